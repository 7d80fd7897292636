// A worker in a process of its own, so that a test can kill it. Prints a line when it works.
import { readConfig } from '../../src/app/config.ts';
import { startWorker } from '../../src/app/worker.ts';
import { masterKeys, silentLog } from './fixtures.ts';

const { DATABASE_URL: databaseUrl = '', DATA_DIR, FILES, IMAGE_ALLOW_ADDRESSES, SMTP_URL, MAIL_FROM } = process.env;
const env = { DATABASE_URL: databaseUrl, DATA_DIR, FILES, IMAGE_ALLOW_ADDRESSES, SMTP_URL, MAIL_FROM };
await startWorker(readConfig(env), databaseUrl, masterKeys, silentLog);
console.log('works');
