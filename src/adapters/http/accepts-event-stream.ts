/** Whether an Accept header asks for the stages as they happen: named outright, and not after JSON. */

export function acceptsEventStream(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map(parseRange);
  const best = ranges
    .filter(({ type, quality }) => quality > 0 && (type === 'text/event-stream' || type === 'application/json'))
    .sort((a, b) => b.quality - a.quality)[0];
  return best?.type === 'text/event-stream';
}

function parseRange(text: string): { type: string; quality: number } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return { type, quality: quality === undefined ? 1 : Number(quality) || 0 };
}
