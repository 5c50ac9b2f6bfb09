/** JSON and JSONL files: tool entries, a catalogue with rules, or the saved answer of an MCP `tools/list`. */
import { isObject } from '../schema/json.js';
import type { EntryIssue } from '../tool.js';
import { parseJson, readText, reasonOf, sourceFailed } from './read.js';
import { createReading, describeSource, type ReadContext, type SourceFormat, type SourceReading } from './source.js';

export const jsonFormat: SourceFormat = { kind: 'json', names: /\.(?:jsonl|ndjson)$/i, read: readJsonSource };

async function readJsonSource(path: string, context: ReadContext): Promise<SourceReading> {
  const text = await readText(path, context);
  const origin = describeSource(path);
  if (/\.(jsonl|ndjson)$/i.test(origin)) return parseJsonLines(text, origin);
  const content = parseJson(text, path);
  if (Array.isArray(content)) return createReading([{ origin, entries: content }]);
  if (isObject(content)) {
    const list = isObject(content.result) ? content.result : content;
    if (Array.isArray(list.tools)) return isToolsListAnswer(list) ? parseAnswer(list, origin) : parseFile(list, origin);
  }
  const forms = 'an array of tool entries, {name, tools, rules?}, nor the answer of tools/list';
  throw sourceFailed(path, `is neither ${forms}. Write it in one of these forms`);
}

/** A line that is no JSON is one bad entry, not a bad file. */
function parseJsonLines(text: string, origin: string): SourceReading {
  const entries: unknown[] = [];
  const issues: EntryIssue[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    try {
      entries.push(JSON.parse(line));
    } catch (error) {
      issues.push({ level: 'warning', entry: `${origin}:${index + 1}`, message: `not JSON: ${reasonOf(error)}` });
    }
  }
  return createReading([{ origin, entries }], { issues });
}

/** A catalogue file has a name or rules of its own; the answer of a server has neither. */
function isToolsListAnswer({ name, rules }: Record<string, unknown>): boolean {
  return name === undefined && rules === undefined;
}

function parseFile({ tools, name, rules = [] }: Record<string, unknown>, origin: string): SourceReading {
  const more = { ...(typeof name === 'string' ? { name } : {}), ...(Array.isArray(rules) ? { rules } : {}) };
  const issue: EntryIssue = { level: 'warning', entry: `${origin} rules`, message: 'rules: not an array, left out' };
  const issues = Array.isArray(rules) ? [] : [issue];
  return createReading([{ origin, entries: Array.isArray(tools) ? tools : [] }], { ...more, issues });
}

function parseAnswer({ tools, nextCursor }: Record<string, unknown>, origin: string): SourceReading {
  const list: unknown[] = Array.isArray(tools) ? tools : [];
  const entries = list.map((tool) => (isObject(tool) ? { toolType: 'mcp', ...tool } : tool));
  const message = 'nextCursor: this is one page of several; the tools of the others are missing';
  const issues: EntryIssue[] = nextCursor ? [{ level: 'warning', entry: origin, message }] : [];
  return createReading([{ origin, entries }], { issues });
}
