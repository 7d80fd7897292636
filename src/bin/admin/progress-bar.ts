/** Shows on standard error how far something is: a bar in a terminal, else a line for each further tenth. */
export function progressBar(total: number, to: NodeJS.WriteStream = process.stderr): { show(done: number): void; end(): void } {
  const startedAt = performance.now();
  let tenths = 0;
  const text = (done: number) => {
    const perSecond = Math.round(done / Math.max((performance.now() - startedAt) / 1000, 0.001));
    return `${grouped(done)} of ${grouped(total)} · ${grouped(perSecond)}/s`;
  };
  return {
    show(done) {
      if (to.isTTY) {
        const filled = Math.round((done / Math.max(total, 1)) * width);
        to.write(`\r${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${text(done)} \u001b[K`);
      } else if (Math.floor((done / Math.max(total, 1)) * 10) > tenths) {
        tenths = Math.floor((done / Math.max(total, 1)) * 10);
        to.write(`${text(done)}\n`);
      }
    },
    end() {
      if (to.isTTY) to.write('\n');
    },
  };
}

const width = 30;
const grouped = (count: number): string => count.toLocaleString('en-GB');
