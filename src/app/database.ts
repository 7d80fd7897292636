import { migrate } from '#platform/db/migrate.ts';
import { prepareQueues } from '#platform/jobs/queue.ts';
import { handlers, schedules } from './catalogue.ts';

/** Brings a database up to date: the product's tables and the queue's. Returns the migrations it ran. */
export async function prepareDatabase(databaseUrl: string): Promise<string[]> {
  const ran = await migrate(databaseUrl);
  await prepareQueues(databaseUrl, [...handlers.map(({ job }) => job.name), ...schedules.map(({ name }) => name)]);
  return ran;
}
