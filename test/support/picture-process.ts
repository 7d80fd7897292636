// Reads one picture in a process of its own, so that a test sees what memory it takes. Prints the most it had, and what became of the picture.
import { readFileSync } from 'node:fs';
import { readPicture } from '#platform/files/picture.ts';

const said = await readPicture(readFileSync(process.env.PICTURE ?? '')).then(
  () => 'taken',
  (error: Error) => error.message,
);
console.log(`${Math.round(process.resourceUsage().maxRSS / 1024)} MB: ${said}`);
