import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import PDFDocument from 'pdfkit';
import type { Instant } from '../dates.ts';
import { toMillis } from '../dates.ts';

/** A line of text; large and bold where it is said. */
export type Words = string | { readonly text: string; readonly size?: number; readonly bold?: true };

export interface Column {
  readonly head: string;
  /** Its part of the width, beside those of the others. */
  readonly share: number;
  readonly align: 'left' | 'right';
}

/** What a document is written with, from top to bottom; pages are turned by themselves. */
export interface Sheet {
  text(lines: readonly Words[]): void;
  /** Two columns; it goes on below the longer. */
  beside(left: readonly Words[], right: readonly Words[]): void;
  /** Its head stands on every page it reaches. */
  table(columns: readonly Column[], rows: readonly (readonly string[])[]): void;
  /** Labels and amounts at the right edge. */
  sums(rows: readonly { readonly label: string; readonly amount: string; readonly bold?: boolean }[]): void;
  gap(): void;
}

interface About {
  readonly title: string;
  readonly author: string;
  readonly language: string;
  /** What it says does not depend on when it was printed, and neither do its bytes. */
  readonly at: Instant;
}

/** Writes a document on A4, with its title and the number of each page at the foot. */
export async function writePdf({ title, author, language, at }: About, draw: (sheet: Sheet) => void): Promise<Buffer> {
  const doc = new PDFDocument({
    size: 'A4',
    margins: { top: margin, bottom: margin + footHeight, left: margin, right: margin },
    bufferPages: true,
    lang: language,
    displayTitle: true,
    info: { Title: title, Author: author, CreationDate: new Date(toMillis(at)) },
    // None of the fonts every reader has: they do not know the letters.
    font: '',
  });
  const chunks: Buffer[] = [];
  const ended = new Promise((resolve, reject) => {
    doc.on('data', (chunk: Buffer) => chunks.push(chunk));
    doc.on('end', resolve);
    doc.on('error', reject);
  });
  doc.registerFont('regular', fonts().regular).registerFont('bold', fonts().bold);
  draw(sheetOn(doc));
  number(doc, title);
  doc.end();
  await ended;
  return Buffer.concat(chunks);
}

type Doc = InstanceType<typeof PDFDocument>;

const margin = 50;
const footHeight = 24;
const size = 9;
const leading = 2;
const grey = '#555555';

let read: { regular: Buffer; bold: Buffer } | undefined;

/** Fonts that know the letters of all of Europe; only what is used of them goes into a document. */
function fonts(): { regular: Buffer; bold: Buffer } {
  const { resolve } = createRequire(import.meta.url);
  const fontOf = (name: string) => readFileSync(resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`));
  read ??= { regular: fontOf('DejaVuSans'), bold: fontOf('DejaVuSans-Bold') };
  return read;
}

function sheetOn(doc: Doc): Sheet {
  const left = margin;
  const width = doc.page.width - 2 * margin;
  const write = (lines: readonly Words[], x: number, within: number) => {
    for (const line of lines) {
      const words = typeof line === 'string' ? { text: line } : line;
      doc.font(words.bold ? 'bold' : 'regular').fontSize(words.size ?? size);
      doc.text(words.text, x, doc.y, { width: within, lineGap: leading });
    }
  };
  return {
    gap() {
      doc.y += 14;
    },

    text: (lines) => write(lines, left, width),

    beside(first, second) {
      const top = doc.y;
      write(first, left, width * 0.55);
      const bottom = doc.y;
      doc.y = top;
      write(second, left + width * 0.6, width * 0.4);
      doc.y = Math.max(bottom, doc.y);
    },

    table(columns, rows) {
      const shares = columns.reduce((sum, { share }) => sum + share, 0);
      const places = columns.map(({ share, align }, i) => {
        const before = columns.slice(0, i).reduce((sum, column) => sum + column.share, 0);
        return { x: left + (width * before) / shares, within: (width * share) / shares - 6, align };
      });
      const heightOf = (cells: readonly string[]) =>
        Math.max(...cells.map((cell, i) => doc.heightOfString(cell, { width: places[i]!.within, lineGap: leading })));
      const row = (cells: readonly string[]) => {
        const top = doc.y;
        const height = heightOf(cells);
        for (const [i, { x, within, align }] of places.entries())
          doc.text(cells[i] ?? '', x, top, { width: within, align, lineGap: leading });
        doc.y = top + height + 4;
      };
      const rule = () => {
        doc
          .moveTo(left, doc.y)
          .lineTo(left + width, doc.y)
          .lineWidth(0.5)
          .strokeColor(grey)
          .stroke();
        doc.y += 4;
      };
      const head = () => {
        doc.font('bold').fontSize(size);
        row(columns.map((column) => column.head));
        rule();
        doc.font('regular');
      };
      head();
      for (const cells of rows) {
        if (doc.y + heightOf(cells) > doc.page.maxY()) {
          doc.addPage();
          head();
        }
        row(cells);
      }
      rule();
    },

    sums(rows) {
      for (const { label, amount, bold } of rows) {
        doc.font(bold ? 'bold' : 'regular').fontSize(size);
        const height = doc.heightOfString(label, { width: width * 0.5 });
        if (doc.y + height > doc.page.maxY()) doc.addPage();
        const top = doc.y;
        doc.text(label, left + width * 0.25, top, { width: width * 0.5, align: 'right' });
        doc.text(amount, left + width * 0.77, top, { width: width * 0.23 - 6, align: 'right' });
        doc.y = top + height + 4;
      }
    },
  };
}

function number(doc: Doc, title: string): void {
  const { start, count } = doc.bufferedPageRange();
  for (let page = start; page < start + count; page++) {
    doc.switchToPage(page);
    // Below the margin, where text would else turn the page.
    doc.page.margins.bottom = 0;
    doc.font('regular').fontSize(8).fillColor(grey);
    const y = doc.page.height - margin;
    doc.text(`${title} · ${page - start + 1}/${count}`, margin, y, {
      width: doc.page.width - 2 * margin,
      align: 'right',
      lineBreak: false,
    });
  }
}
