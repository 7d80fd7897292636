// A worker in a process of its own, so that a test can kill it. Prints a line when it works.
import { readConfig } from '../../src/app/config.ts';
import { startWorker } from '../../src/app/worker.ts';
import { masterKeys, silentLog } from './fixtures.ts';

const { DATABASE_URL: databaseUrl = '', FILES, IMAGE_ALLOW_ADDRESSES } = process.env;
await startWorker(readConfig({ DATABASE_URL: databaseUrl, FILES, IMAGE_ALLOW_ADDRESSES }), databaseUrl, masterKeys, silentLog);
console.log('works');
