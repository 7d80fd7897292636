import { z } from 'zod';
import {
  anyOf,
  byId,
  codeOf,
  date,
  eventType,
  everyKey,
  externalId,
  flag,
  limits,
  listQuery,
  mostAmount,
  operation,
  privateKeys,
  recordListQuery,
  secretKeys,
  text,
  tombstone,
  wholeParameter,
} from '#platform/contract.ts';
import { batchBody, batchDryRun, batchStatuses, vehicleBatch, vehicleBatchWithItems } from './batch-shapes.ts';
import { bodyTypes, fuelTypes, transmissions, vehicleStatuses, vehicleTypes } from './codes.ts';
import { byPhoto, image, photoOrder, photoUpload } from './photo-shapes.ts';
import { newVehicle, publicVehicle, registration, vehicle, vehicleChanges, vin } from './shapes.ts';

export * from './batch-shapes.ts';
export * from './codes.ts';
export * from './photo-shapes.ts';
export * from './shapes.ts';
export * from './tool-shapes.ts';

const tag = 'Vehicles';
const amount = wholeParameter(0, mostAmount);
const whole = wholeParameter(0, 9_999_999);

export const vehicleListQuery = recordListQuery({
  external_id: anyOf(externalId).optional().describe('Not for publishable keys.'),
  status: anyOf(codeOf('vehicle-statuses', vehicleStatuses)).optional().describe('For publishable keys FOR_SALE and RESERVED only.'),
  type: anyOf(codeOf('vehicle-types', vehicleTypes)).optional(),
  condition: anyOf(z.enum(['NEW', 'USED'], { error: 'Either NEW or USED.' })).optional(),
  make: anyOf(text(60)).optional().describe('Upper and lower case are equal.'),
  model: anyOf(text(60)).optional().describe('Upper and lower case are equal.'),
  registration: anyOf(registration).optional(),
  vin: anyOf(vin).optional().describe('Not for publishable keys.'),
  stock_number: anyOf(text(40)).optional(),
  fuel_type: anyOf(codeOf('fuel-types', fuelTypes)).optional(),
  transmission: anyOf(codeOf('transmissions', transmissions)).optional(),
  body_type: anyOf(codeOf('body-types', bodyTypes)).optional(),
  min_asking_price: amount.optional().describe('Minor units; leaves out vehicles whose price is on application.'),
  max_asking_price: amount.optional().describe('Minor units; leaves out vehicles whose price is on application.'),
  min_mileage: whole.optional(),
  max_mileage: whole.optional(),
  min_year: whole.optional(),
  max_year: whole.optional(),
  website_visible: flag.optional().describe('Not for publishable keys.'),
  q: text(100).optional().describe('The beginning of a registration, a stock number, or make and model.'),
  has_images: flag.optional(),
  stocked_from: date.optional(),
  stocked_to: date.optional(),
});
export type VehicleListQuery = z.output<typeof vehicleListQuery>;

export const listVehicles = operation({
  id: 'vehicles.list',
  method: 'GET',
  path: '/v1/vehicles',
  tag,
  summary: 'List vehicles',
  description:
    'In the order of `updated_at`. A publishable key sees the public fields of website-visible stock; with `include_deleted=true` also a tombstone for each vehicle that has left the website.',
  access: { scopes: ['vehicles:read'], kinds: everyKey },
  query: vehicleListQuery,
  success: { status: 200, data: vehicle, publishable: publicVehicle, shape: 'page' },
  refusals: ['validation_failed'],
});

export const getVehicle = operation({
  id: 'vehicles.get',
  method: 'GET',
  path: '/v1/vehicles/{id}',
  tag,
  summary: 'Read a vehicle',
  access: { scopes: ['vehicles:read'], kinds: everyKey },
  params: byId,
  success: { status: 200, data: vehicle, publishable: publicVehicle },
  refusals: ['not_found'],
});

export const createVehicle = operation({
  id: 'vehicles.create',
  method: 'POST',
  path: '/v1/vehicles',
  tag,
  summary: 'Create a vehicle',
  description: 'Needs `condition`, and `make` and `model` unless a look-up of `registration` yields both.',
  access: { scopes: ['vehicles:write'], kinds: privateKeys },
  body: newVehicle,
  success: { status: 201, data: vehicle, location: '/v1/vehicles/{id}' },
  refusals: [
    'insufficient_scope',
    'scope_not_permitted_for_owner',
    'branch_move_not_permitted',
    'external_id_taken',
    'stock_busy',
    'validation_failed',
    'vehicle_not_created',
    'plan_stock_cap_reached',
    'sandbox_stock_cap_reached',
  ],
  emits: ['vehicle.created'],
  example: {
    body: {
      external_id: 'stock-1042',
      registration: 'AB24 CDE',
      condition: 'USED',
      make: 'Škoda',
      model: 'Octavia',
      derivative: '1.5 TSI SE L',
      body_type: 'ESTATE',
      fuel_type: 'PETROL',
      transmission: 'MANUAL',
      mileage: 18_450,
      asking_price: 1_849_500,
      features: [{ name: 'Heated seats', type: 'OPTIONAL' }],
      metadata: { website_id: '8812' },
    },
  },
});

export const updateVehicle = operation({
  id: 'vehicles.update',
  method: 'PATCH',
  path: '/v1/vehicles/{id}',
  tag,
  summary: 'Change a vehicle',
  description: 'A merge patch: an absent field is left, null clears it. SOLD and DELIVERED are set by the deal alone.',
  access: { scopes: ['vehicles:write'], kinds: privateKeys },
  params: byId,
  body: vehicleChanges,
  success: { status: 200, data: vehicle },
  refusals: [
    'insufficient_scope',
    'scope_not_permitted_for_owner',
    'not_found',
    'branch_move_not_permitted',
    'external_id_taken',
    'vehicle_in_deal',
    'stock_busy',
    'validation_failed',
  ],
  emits: ['vehicle.updated', 'vehicle.status_changed'],
  example: { body: { status: 'FOR_SALE', asking_price: 1_799_500, attention_grabber: 'One owner, full history' } },
});

export const deleteVehicle = operation({
  id: 'vehicles.delete',
  method: 'DELETE',
  path: '/v1/vehicles/{id}',
  tag,
  summary: 'Delete a vehicle',
  description: 'Also needs the owner’s permission STOCK_DELETE. The `external_id` is free again.',
  access: { scopes: ['vehicles:write'], kinds: privateKeys },
  params: byId,
  success: { status: 200, data: tombstone },
  refusals: ['scope_not_permitted_for_owner', 'not_found', 'vehicle_in_deal', 'vehicle_has_purchase_order', 'stock_busy'],
  emits: ['vehicle.deleted'],
});

export const addVehicleImage = operation({
  id: 'vehicle_images.create',
  method: 'POST',
  path: '/v1/vehicles/{id}/images',
  tag,
  summary: 'Add a photo to a vehicle',
  description: 'At the end of the gallery. What the file says of itself is not believed, and nothing of it but the picture is kept.',
  access: { scopes: ['vehicles:write'], kinds: privateKeys },
  params: byId,
  multipart: true,
  body: photoUpload,
  success: { status: 201, data: image },
  refusals: ['not_found', 'stock_busy', 'validation_failed', 'body_not_received'],
  emits: ['vehicle.updated'],
  example: { body: { file: 'front.png', alt: 'From the front' } },
});

export const orderVehicleImages = operation({
  id: 'vehicle_images.order',
  method: 'PUT',
  path: '/v1/vehicles/{id}/images/order',
  tag,
  summary: 'Put the photos of a vehicle in order',
  access: { scopes: ['vehicles:write'], kinds: privateKeys },
  params: byId,
  body: photoOrder,
  success: { status: 200, data: vehicle },
  refusals: ['not_found', 'stock_busy', 'validation_failed'],
  emits: ['vehicle.updated'],
  example: { body: { image_ids: ['{/v1/vehicles/{id}/images}'] } },
});

export const deleteVehicleImage = operation({
  id: 'vehicle_images.delete',
  method: 'DELETE',
  path: '/v1/vehicles/{id}/images/{image_id}',
  tag,
  summary: 'Remove a photo of a vehicle',
  access: { scopes: ['vehicles:write'], kinds: privateKeys },
  params: byPhoto,
  success: { status: 200, data: tombstone },
  refusals: ['not_found', 'stock_busy'],
  emits: ['vehicle.updated'],
});

export const upsertVehicles = operation({
  id: 'vehicles.batch',
  method: 'POST',
  path: '/v1/vehicles/batch',
  tag,
  summary: 'Create or update up to 500 vehicles',
  description:
    'Each item is matched by `id`, then `external_id`, then `registration`; a match is updated, else a vehicle is created. Items of the wrong shape have failed in the answer; the others are written in the background. `{"vehicles": […]}` is taken for the array.',
  access: { scopes: ['vehicles:write'], kinds: secretKeys },
  query: z.strictObject({ dry_run: flag.optional().describe('`true` says what would happen, and writes nothing.') }),
  body: batchBody,
  bodyLimit: limits.batch,
  success: {
    status: 202,
    data: vehicleBatchWithItems,
    location: '/v1/vehicle-batches/{id}',
    or: { status: 200, data: batchDryRun, description: 'With `dry_run=true`: what would happen.' },
  },
  refusals: ['insufficient_scope', 'scope_not_permitted_for_owner', 'stock_busy', 'validation_failed'],
  emits: ['vehicle.created', 'vehicle.updated', 'vehicle.status_changed', 'vehicle_batch.completed'],
  example: {
    body: [
      { external_id: 'stock-1042', asking_price: 1_769_500 },
      { external_id: 'stock-1043', condition: 'NEW', make: 'Škoda', model: 'Fabia', asking_price: 1_999_000 },
    ],
    or: { dry_run: 'true' },
  },
});

const batchReaders = { scopes: ['vehicles:write', 'vehicles:read'], kinds: privateKeys } as const;

export const getVehicleBatch = operation({
  id: 'vehicle_batches.get',
  method: 'GET',
  path: '/v1/vehicle-batches/{id}',
  tag,
  summary: 'Read a vehicle batch with the results of its items',
  access: batchReaders,
  params: byId,
  success: { status: 200, data: vehicleBatchWithItems },
  refusals: ['not_found'],
});

export const vehicleBatchListQuery = listQuery({
  status: anyOf(z.enum(batchStatuses, { error: 'Either processing or completed.' })).optional(),
});
export type VehicleBatchListQuery = z.output<typeof vehicleBatchListQuery>;

export const listVehicleBatches = operation({
  id: 'vehicle_batches.list',
  method: 'GET',
  path: '/v1/vehicle-batches',
  tag,
  summary: 'List vehicle batches',
  description: 'Without their items. Batches are kept for 90 days.',
  access: batchReaders,
  query: vehicleBatchListQuery,
  success: { status: 200, data: vehicleBatch, shape: 'page' },
  refusals: ['validation_failed'],
});

export const vehicleOperations = [
  listVehicles,
  getVehicle,
  createVehicle,
  updateVehicle,
  deleteVehicle,
  addVehicleImage,
  orderVehicleImages,
  deleteVehicleImage,
  upsertVehicles,
  getVehicleBatch,
  listVehicleBatches,
];

const readers = ['vehicles:read'] as const;

export const vehicleCreated = eventType({
  type: 'vehicle.created',
  summary: 'A stock record was created.',
  object: vehicle,
  scopes: readers,
});

export const vehicleUpdated = eventType({
  type: 'vehicle.updated',
  summary: 'A field, the photos or the status of a vehicle changed.',
  object: vehicle,
  scopes: readers,
});

export const vehicleStatusChanged = eventType({
  type: 'vehicle.status_changed',
  summary: 'The status of a vehicle changed; sent after `vehicle.updated`.',
  object: vehicle,
  scopes: readers,
});

export const vehicleDeleted = eventType({
  type: 'vehicle.deleted',
  summary: 'A vehicle was deleted.',
  object: tombstone,
  scopes: readers,
});

export const vehicleBatchCompleted = eventType({
  type: 'vehicle_batch.completed',
  summary: 'Every item of a batch is final.',
  object: vehicleBatch,
  scopes: ['vehicles:read', 'vehicles:write'],
});

export const vehicleEvents = [vehicleCreated, vehicleUpdated, vehicleStatusChanged, vehicleDeleted, vehicleBatchCompleted];
