import { createCustomer, noteOwnedVehicle } from '#modules/customers/index.ts';
import type { NewEnquiry } from '#modules/enquiries/index.ts';
import { addNote, appraisePartExchange, createEnquiry, getEnquiry, updateEnquiry } from '#modules/enquiries/index.ts';
import type { Vehicle } from '#modules/vehicles/contract.ts';
import { vehicleListQuery } from '#modules/vehicles/contract.ts';
import { listVehicles } from '#modules/vehicles/index.ts';
import type { Context } from '#platform/context.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { unlessMade } from './seed-once.ts';

/** What becomes of the seed's enquiries, one after another: every status in one round but WON, which comes of a deal. */
const outcomes = ['NEW', 'CONTACTED', 'APPOINTMENT', 'NEGOTIATING', 'LOST', 'DISQUALIFIED'] as const;
type Outcome = (typeof outcomes)[number];

const firstNames = ['Alex', 'Sam', 'Robin', 'Charlie', 'Jamie', 'Morgan', 'Taylor', 'Kim'];
const lastNames = ['Ash', 'Birch', 'Cedar', 'Elm', 'Hazel', 'Linden', 'Maple', 'Rowan', 'Willow'];
const companies = ['Northgate Couriers Ltd', 'Riverside Catering Ltd'];
const sources = ['WEBSITE', 'AUTO_TRADER', 'PHONE', 'WALK_IN', 'REFERRAL'];
const postcodes = ['BS1 4DJ', 'LS1 3AB', 'M2 5DB'];

interface Seed {
  readonly branchIds: readonly string[];
  /** To whom some enquiries are given. */
  readonly staffId?: string | undefined;
}

/** Takes `count` customers into the records with an enquiry of each, spread over branches and statuses: the same everywhere but for ids and times. */
export async function seedCustomers(ctx: Context, seed: Seed, count: number): Promise<void> {
  const { data: cars } = await listVehicles(ctx, vehicleListQuery.parse({ status: 'FOR_SALE', limit: '100' }));
  const forSale = cars.filter((car): car is Vehicle => 'branch_id' in car);
  for (let n = 0; n < count; n++) {
    const outcome = outcomes[n % outcomes.length]!;
    await inTransaction(ctx, async (tx) => {
      const customer = await unlessMade(tx, () => createCustomer(tx, customerOf(n, seed.branchIds)));
      if (!customer) return;
      if (n % 3 === 0) await noteOwnedVehicle(tx, customer.id, carOf(n));
      const { id } = await createEnquiry(tx, enquiryOf(n, customer, forSale, seed));
      await lead(tx, id, outcome);
    });
  }
}

function customerOf(n: number, branchIds: readonly string[]) {
  const [first_name, last_name] = [firstNames[n % firstNames.length]!, lastNames[n % lastNames.length]!];
  const company = n % 6 === 5 ? companies[n % companies.length]! : null;
  return {
    external_id: `seed-${n + 1}`,
    branch_id: branchIds[n % branchIds.length]!,
    first_name,
    last_name,
    ...(company !== null && { company_name: company, type: 'BUSINESS' as const }),
    email: `${first_name}.${last_name}.${n + 1}@customer.example`.toLowerCase(),
    // Numbers kept free for stories.
    mobile: `+4477009${String(n + 1).padStart(5, '0')}`,
    address: { line1: `${n + 1} Station Road`, postcode: postcodes[n % postcodes.length]!, country: 'GB' },
    preferred_contact_method: n % 2 === 0 ? ('EMAIL' as const) : ('PHONE' as const),
    marketing_consent: { email: n % 2 === 0, phone: n % 4 === 0, wording: 'You may contact me about offers.' },
    tags: n % 5 === 0 ? ['service plan'] : [],
  };
}

const carOf = (n: number) => ({
  registration: `SE${String(n % 100).padStart(2, '0')}EED`,
  vin: null,
  make: 'Ford',
  model: 'Focus',
  mileage: 30_000 + n * 1_250,
  mot_expires_on: null,
  next_service_on: null,
});

type Customer = Awaited<ReturnType<typeof createCustomer>>;

function enquiryOf(n: number, customer: Customer, forSale: readonly Vehicle[], { staffId }: Seed): NewEnquiry {
  const { id, branch_id, first_name, last_name, email, mobile } = customer;
  const atBranch = forSale.filter((vehicle) => vehicle.branch_id === branch_id);
  const vehicle = atBranch[n % Math.max(1, atBranch.length)];
  return {
    external_id: `seed-${n + 1}`,
    branch_id,
    customer_id: id,
    contact: { first_name, last_name, email, mobile },
    type: n % 4 === 3 ? 'PART_EXCHANGE' : 'SALES',
    source: sources[n % sources.length]!,
    channel: n % 2 === 0 ? 'WEB' : 'PHONE',
    message: 'Is this car still available?',
    ...(vehicle && { vehicle_id: vehicle.id }),
    ...(staffId && n % 2 === 1 && { assigned_to_id: staffId }),
    ...(n % 4 === 3 && {
      part_exchange: {
        registration: `PX${String(n % 100).padStart(2, '0')}OLD`,
        make: 'Vauxhall',
        model: 'Astra',
        mileage: 64_000,
        condition: 'GOOD' as const,
      },
    }),
    ...(n % 3 === 1 && { finance: { interested: true, type: 'PCP' as const, deposit: 100_000, term_months: 48 } }),
    ...(n % 7 === 2 && { test_drive: { requested: true, location: 'BRANCH' as const } }),
  };
}

/** Leads an enquiry to where it ends. */
async function lead(tx: Context, id: string, outcome: Outcome): Promise<void> {
  if (outcome === 'NEW') return;
  if (outcome !== 'DISQUALIFIED') await updateEnquiry(tx, id, { status: 'CONTACTED' });
  if (outcome === 'NEGOTIATING') await appraiseIfOffered(tx, id);
  if (outcome === 'LOST') await updateEnquiry(tx, id, { status: 'LOST', lost_reason: 'WENT_ELSEWHERE' });
  else await updateEnquiry(tx, id, { status: outcome });
  await addNote(tx, id, { body: outcome === 'DISQUALIFIED' ? 'A duplicate.' : 'Spoke on the phone.' });
}

async function appraiseIfOffered(tx: Context, id: string): Promise<void> {
  const { part_exchange: offer } = await getEnquiry(tx, id);
  if (offer) await appraisePartExchange(tx, id, 325_000);
}
