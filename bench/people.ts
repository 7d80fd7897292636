import type { z } from 'zod';
import type { newCustomer } from '#modules/customers/contract.ts';
import type { newEnquiry } from '#modules/enquiries/contract.ts';

/** Someone as they leave their name: no two have the same address or number. */
const personNumber = (n: number) => ({
  title: 'Dr',
  first_name: 'Alex',
  last_name: `Rowan ${n}`,
  email: `alex.rowan.${n}@customer.example`,
  mobile: `+447${String(n).padStart(9, '0')}`,
  address: { line1: `${1 + (n % 200)} Mill Lane`, city: 'Ludlow', county: 'Shropshire', postcode: 'SY8 1AA', country: 'United Kingdom' },
});

export const customerNumber = (n: number) =>
  ({
    ...personNumber(n),
    phone: `+4420${String(n).padStart(8, '0')}`,
    marketing_consent: { email: true, phone: false, wording: 'You may write to me about offers.' },
    tags: ['newsletter'],
    metadata: { source: 'bench' },
  }) satisfies z.input<typeof newCustomer>;

/** An enquiry as a website or a marketplace sends it: about 1 kB of JSON. */
export const enquiryNumber = (n: number) =>
  ({
    type: 'SALES',
    source: 'AUTO_TRADER',
    channel: 'WEB',
    contact: { ...personNumber(n), preferred_method: 'PHONE', preferred_time: 'After 17:00' },
    message: 'Is the car still available, and could I see it on Saturday? I would come by train, so a call in the morning would be kind.',
    part_exchange: { registration: 'AB12CDE', mileage: 61_200, condition: 'GOOD', expected_value: 420_000 },
    finance: { interested: true, type: 'PCP', deposit: 150_000, term_months: 48 },
    marketing_consent: { email: true, phone: true, wording: 'You may contact me about offers.' },
    attribution: { utm_source: 'newsletter', utm_medium: 'email' },
  }) satisfies z.input<typeof newEnquiry>;
