import { eraseAppointments } from '#modules/appointments/index.ts';
import { eraseCustomers } from '#modules/customers/index.ts';
import { createBranch, createDealer, createSandbox, findDealer, namesOfBranches, operatorOf, setDealer } from '#modules/dealers/index.ts';
import { eraseDeals } from '#modules/deals/index.ts';
import { eraseEnquiries } from '#modules/enquiries/index.ts';
import { eraseInvoices } from '#modules/invoices/index.ts';
import { eraseJobCards } from '#modules/job-cards/index.ts';
import { hasKeys, issueKey } from '#modules/keys/index.ts';
import { eraseParts } from '#modules/parts/index.ts';
import { erasePurchaseOrders } from '#modules/purchase-orders/index.ts';
import { roles } from '#modules/staff/contract.ts';
import { createUser, roleName, userIdByEmail } from '#modules/staff/index.ts';
import { eraseStock } from '#modules/vehicles/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { randomText } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import { seedAppointments } from './seed-appointments.ts';
import { seedCustomers } from './seed-customers.ts';
import type { Album } from './seed-photos.ts';
import { openAlbum } from './seed-photos.ts';
import { seedSales } from './seed-sales.ts';
import type { StockSeed } from './seed-stock.ts';
import { photographStock, seedStock, seedStockWithPhotos, tradedOf } from './seed-stock.ts';
import { seedWorkshop } from './seed-workshop.ts';

/** What opens the demo dealer; the sign-in is the administrator's. */
export interface Demo {
  readonly dealer: string;
  readonly secret_key: string;
  readonly publishable_key: string;
  readonly sign_in: { readonly dealer_code: string; readonly email: string; readonly password: string };
}

const demoOrigins = ['https://demo.example'];
const sandboxUser = 'sandbox@sandbox.example';
const demoVehicles = 60;
const demoSeed = { customers: 21, appointments: 14, jobCards: 20 };
const sandboxSeed = { vehicles: 24, photographed: 4, customers: 7, appointments: 7, jobCards: 10 };
/** Beside the first, so that branch restrictions can be tried. */
const sandboxBranches = ['North', 'South'];

/** Makes the sandbox and, on the first run, the demo dealer. A run that was killed half way is completed by the next. */
export async function prepare(service: Service, withDemo: boolean): Promise<Demo | null> {
  const album = openAlbum();
  await makeSandbox(service, album);
  return withDemo && !(await isDemoMade(service)) ? createDemo(service, demoVehicles, album) : null;
}

/** Its keys are issued last. */
async function isDemoMade(service: Service): Promise<boolean> {
  const found = await findDealer(service, { code: 'demo' });
  return found !== undefined && (await hasKeys(operatorOf(service, found.dealer, found.now)));
}

/** Makes the demo dealer if it is missing, and always issues two fresh keys. */
export async function createDemo(service: Service, vehicles = demoVehicles, album = openAlbum()): Promise<Demo> {
  const ctx = await demoDealer(service, vehicles, album);
  const email = emailOf('ADMINISTRATOR');
  const ownerId = (await userIdByEmail(ctx, email)) ?? '';
  const issue = (kind: 'secret' | 'publishable') =>
    issueKey(ctx, {
      name: `Demo ${kind} key`,
      ownerId,
      kind,
      environment: 'live',
      ...(kind === 'publishable' && { origins: demoOrigins }),
    });
  return {
    dealer: ctx.dealer.code,
    secret_key: (await issue('secret')).key,
    publishable_key: (await issue('publishable')).key,
    sign_in: { dealer_code: ctx.dealer.code, email, password: demoPassword(ctx) },
  };
}

/** The same each time it is asked for, and known to nobody without the master key. */
const demoPassword = ({ service, dealer }: Context): string =>
  service.keyring.sign('demo password', dealer.id).toString('hex').slice(0, 16);

async function demoDealer(service: Service, vehicles: number, album: Album): Promise<Context> {
  if (!(await findDealer(service, { code: 'demo' }))) {
    await createDealer(service, { name: 'Forecourt Demo Motors', code: 'demo', plan: 'PROFESSIONAL' });
  }
  const ctx = await operatorFor(service, 'demo');
  if (await hasKeys(ctx)) return ctx;
  await setDealer(ctx, { themeBuilder: true, valuations: true });
  if ((await namesOfBranches(ctx)).length < 2) await createBranch(ctx, { name: 'Riverside' });
  for (const role of roles) {
    if (await userIdByEmail(ctx, emailOf(role))) continue;
    await createUser(ctx, { email: emailOf(role), name: roleName(role), role, password: demoPassword(ctx) });
  }
  const staffId = await userIdByEmail(ctx, emailOf('SALES_EXECUTIVE'));
  const seed: Seed = { ...demoSeed, vehicles, photographed: vehicles, branchIds: await branchIds(ctx), staffId };
  await seedStockWithPhotos(ctx, seed, album);
  await seedRecords(ctx, seed);
  return ctx;
}

/** Makes the dealership that test keys reach, with the user they act as and its fixed seed. */
export async function makeSandbox(service: Service, album = openAlbum()): Promise<void> {
  if (!(await findDealer(service, { code: 'sandbox' }))) {
    await createSandbox(service, { name: 'Sandbox Motors', code: 'sandbox', plan: 'PROFESSIONAL' });
  }
  const ctx = await operatorFor(service, 'sandbox');
  if (await userIdByEmail(ctx, sandboxUser)) return;
  for (const name of sandboxBranches) {
    if (!(await namesOfBranches(ctx)).some((branch) => branch.name === name)) await createBranch(ctx, { name });
  }
  const stock = await sandboxStock(ctx);
  await seedStockWithPhotos(ctx, stock, album);
  await seedRecords(ctx, stock);
  // Without the user nobody acts in the sandbox, so it comes last.
  await inTransaction(ctx, async (tx) => {
    const { id } = await createUser(tx, { email: sandboxUser, name: 'Sandbox', role: 'ADMINISTRATOR', password: randomText(32) });
    await setDealer(tx, { actsAsId: id });
  });
}

/** Puts the sandbox back to its fixed seed, in one transaction: whoever reads sees it as it was, then as it is. Its photos follow. */
export async function resetSandbox(service: Service): Promise<void> {
  const ctx = await operatorFor(service, 'sandbox');
  const stock = await inTransaction(ctx, async (tx) => {
    await eraseInvoices(tx);
    await eraseJobCards(tx);
    await eraseParts(tx);
    await eraseAppointments(tx);
    await eraseDeals(tx);
    await eraseEnquiries(tx);
    await eraseCustomers(tx);
    await erasePurchaseOrders(tx);
    await eraseStock(tx);
    const stock = await sandboxStock(tx);
    await seedStock(tx, stock);
    await seedRecords(tx, stock);
    return stock;
  });
  await photographStock(ctx, stock, openAlbum());
}

const sandboxStock = async (ctx: Context): Promise<Seed> => ({ ...sandboxSeed, branchIds: await branchIds(ctx) });

interface Seed extends StockSeed {
  readonly customers: number;
  readonly appointments: number;
  readonly jobCards: number;
  /** To whom some of it is given. */
  readonly staffId?: string | undefined;
}

/** What happens around the stock. */
async function seedRecords(ctx: Context, seed: Seed): Promise<void> {
  const { branchIds, staffId, customers, appointments, jobCards } = seed;
  await seedCustomers(ctx, { branchIds, staffId }, customers);
  await seedAppointments(ctx, staffId, appointments);
  await seedWorkshop(ctx, branchIds, jobCards);
  await seedSales(ctx, tradedOf(ctx, seed), staffId);
}

async function operatorFor(service: Service, code: string): Promise<Context> {
  const found = await findDealer(service, { code });
  if (!found) throw new Error(`There is no dealership "${code}".`);
  return operatorOf(service, found.dealer, found.now);
}

const branchIds = async (ctx: Context): Promise<string[]> => (await namesOfBranches(ctx)).map(({ id }) => id);
const emailOf = (role: string): string => `${role.toLowerCase()}@demo.example`;
