import type { Figures } from './load.ts';
import type { Cost } from './probe.ts';

/** Prints rows under their headings, text to the left and figures to the right. */
export function print(title: string, headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('   ');
  console.log(`\n${title}\n\n${line(headings)}\n${widths.map((width) => '-'.repeat(width)).join('   ')}`);
  for (const row of rows) console.log(line(row));
}

export const comparisonHeadings = ['', 'API req/s', 'p50 ms', 'p99 ms', 'bare req/s', 'p50 ms', 'p99 ms', 'API/bare', 'SQL', 'round trips'];

export const comparisonRow = (name: string, api: Figures, bare: Figures, { statements, roundTrips }: Cost): string[] => [
  name,
  ...cellsOf(api),
  ...cellsOf(bare),
  `${Math.round((100 * api.perSecond) / bare.perSecond)} %`,
  `${statements.length}`,
  `${roundTrips}`,
];

const cellsOf = ({ perSecond, p50, p99 }: Figures): string[] => [whole(perSecond), ms(p50), ms(p99)];

export const ms = (value: number): string => (value < 100 ? value.toFixed(value < 10 ? 2 : 1) : value.toFixed(0));
export const whole = (value: number): string => Math.round(value).toLocaleString('en-GB');
