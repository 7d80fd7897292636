import { answer, answerAfter, answerAfterIf, answerAs } from '#platform/http/answer.ts';
import { acceptBatch, getBatch, listBatches, lookUpItems, tryBatch } from './batch.ts';
import { createVehicle, deleteVehicle, updateVehicle } from './commands.ts';
import * as contract from './contract.ts';
import { isBare, lookUp } from './lookup.ts';
import { addPhoto, orderPhotos, receivePhoto, removePhoto } from './photo-commands.ts';
import { getVehicle, listVehicles } from './reads.ts';

export const vehicleRoutes = [
  answer(contract.listVehicles, (ctx, { query }) => listVehicles(ctx, query)),
  answer(contract.getVehicle, (ctx, { params }) => getVehicle(ctx, params.id)),
  answerAfterIf(
    contract.createVehicle,
    ({ body }) => isBare(body),
    (ctx, { body }) => lookUp(ctx, body),
    (ctx, { body }, found) => createVehicle(ctx, body, found),
  ),
  answer(contract.updateVehicle, (ctx, { params, body }) => updateVehicle(ctx, params.id, body)),
  answer(contract.deleteVehicle, (ctx, { params }) => deleteVehicle(ctx, params.id)),
  answerAfter(
    contract.addVehicleImage,
    (ctx, { params, body }) => receivePhoto(ctx, params.id, body.file),
    (ctx, { params, body }, kept) => addPhoto(ctx, params.id, kept, body.alt ?? null),
  ),
  answer(contract.orderVehicleImages, (ctx, { params, body }) => orderPhotos(ctx, params.id, body.image_ids)),
  answer(contract.deleteVehicleImage, (ctx, { params }) => removePhoto(ctx, params.id, params.image_id)),
  answerAfterIf(
    contract.upsertVehicles,
    ({ query }) => query.dry_run === true,
    (ctx, { body }) => lookUpItems(ctx, body),
    async (ctx, { query, body }, found) => (query.dry_run ? answerAs(200, await tryBatch(ctx, body, found)) : acceptBatch(ctx, body)),
  ),
  answer(contract.getVehicleBatch, (ctx, { params }) => getBatch(ctx, params.id)),
  answer(contract.listVehicleBatches, (ctx, { query }) => listBatches(ctx, query)),
];
