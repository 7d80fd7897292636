export { wholeSecond } from '#platform/dates.ts';
export { consented, patchedAddress } from './changes.ts';
export type { Asking, Contact } from './commands.ts';
export { createCustomer, customerAsking, deleteCustomer, eraseCustomers, noteOwnedVehicle, updateCustomer } from './commands.ts';
export { getCustomer, listCustomers } from './reads.ts';
export { toConsent } from './view.ts';
