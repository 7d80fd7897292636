import { answer } from '#platform/http/answer.ts';
import { addNote, createEnquiry, deleteEnquiry, updateEnquiry } from './commands.ts';
import * as contract from './contract.ts';
import { getEnquiry, listEnquiries } from './reads.ts';

export const enquiryRoutes = [
  answer(contract.listEnquiries, (ctx, { query }) => listEnquiries(ctx, query)),
  answer(contract.getEnquiry, (ctx, { params }) => getEnquiry(ctx, params.id)),
  answer(contract.createEnquiry, (ctx, { body }) => createEnquiry(ctx, body)),
  answer(contract.updateEnquiry, (ctx, { params, body }) => updateEnquiry(ctx, params.id, body)),
  answer(contract.deleteEnquiry, (ctx, { params }) => deleteEnquiry(ctx, params.id)),
  answer(contract.addNote, (ctx, { params, body }) => addNote(ctx, params.id, body)),
];
