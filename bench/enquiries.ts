import { measureCreation } from './creation.ts';
import type { Ground } from './ground.ts';
import { enquiryNumber } from './people.ts';

/** An enquiry created, of someone the dealer knows, and of strangers, who become customers. */
export const measureEnquiries = (ground: Ground): Promise<void> =>
  measureCreation(ground, {
    title: 'Enquiries',
    path: '/v1/enquiries',
    shows: 'enquiry',
    bodies: { 'of a customer': () => regular, 'of a stranger': () => JSON.stringify(enquiryNumber(strangers++)) },
  });

const regular = JSON.stringify(enquiryNumber(0));
let strangers = 1;
