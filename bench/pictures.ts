import { pictureServer } from '../test/support/picture-server.ts';
import { noisy } from '../test/support/pictures.ts';

// The server that photos are imported from: JPEGs of 12 million pixels, as cameras make them, of about 4 MB each.
const made = await Promise.all(Array.from({ length: 5 }, () => noisy(4000, 3000).jpeg({ quality: 75 }).toBuffer()));
const server = await pictureServer({ after: (undo) => process.once('exit', undo) }, (request, response) => {
  const number = Number(/\d+/.exec(request.url ?? '')?.[0] ?? 0);
  response.writeHead(200, { 'content-type': 'image/jpeg' }).end(made[number % made.length]);
});
process.send?.({ url: server.at(''), megabytes: made.reduce((sum, { length }) => sum + length, 0) / made.length / 1_000_000 });
