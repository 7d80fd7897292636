import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { browserPath } from './browser-path.ts';

// As a test needs it on a machine without a screen, and without calls to anybody.
const args = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** A real browser, gone when the test ends. Each call of what it returns is somebody else's: a window with cookies of its own. */
export async function realBrowser(t: {
  after(undo: () => Promise<void>): void;
}): Promise<(options?: BrowserContextOptions) => Promise<Page>> {
  const executablePath = browserPath();
  if (!executablePath) throw new Error('This test needs Chromium: run "npm test", or name one by the variable CHROMIUM.');
  const browser = await chromium.launch({ executablePath, args });
  t.after(() => browser.close());
  return async (options) => (await browser.newContext({ locale: 'en-GB', ...options })).newPage();
}

/** Keeps a picture of a page, whole, to be looked at. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}

const folder = fileURLToPath(new URL('../../.artefacts', import.meta.url));
