/** Sizes for people, in decimal units as the hubs show them. */
const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

export function formatBytes(bytes: number): string {
  const step = Math.min(bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3), UNITS.length - 1);
  const value = bytes / 1000 ** step;
  return `${step === 0 ? Math.round(value) : value.toFixed(value < 10 ? 2 : 1)} ${UNITS[step]}`;
}
