/**
 * The refusal catalogue: every code the API can answer, with its status and the sentence for people.
 * The specification's table ("Errors", "Codes") and the additive codes of its answered open points.
 */
export const catalogue = {
  missing_api_key: { status: 401, message: 'No API key was sent. Send it as "Authorization: Bearer <key>".' },
  invalid_api_key: { status: 401, message: 'The API key is malformed or unknown.' },
  api_key_revoked: { status: 401, message: 'The API key was revoked or replaced.' },
  api_key_expired: { status: 401, message: 'The API key has expired.' },
  key_owner_inactive: {
    status: 401,
    message: 'The member of staff this key acts as is no longer active. An administrator can move the key to another owner.',
  },
  sandbox_unavailable: { status: 401, message: 'The sandbox is not available at the moment.' },

  insufficient_scope: { status: 403, message: 'The key lacks the scope this needs.' },
  scope_not_permitted_for_owner: { status: 403, message: 'The member of staff this key acts as lacks the permission behind this scope.' },
  plan_not_entitled: { status: 403, message: 'The dealership’s plan does not include this.' },
  secret_key_required: { status: 403, message: 'This needs a secret key.' },
  publishable_key_required: { status: 403, message: 'This needs a publishable key.' },
  secret_key_in_browser: {
    status: 403,
    message: 'A secret key was sent from a browser. Use a publishable key there, and replace this one.',
  },
  origin_not_allowed: { status: 403, message: 'The key does not allow requests from this origin.' },
  ip_not_allowed: { status: 403, message: 'The key does not allow requests from this address.' },
  branch_move_not_permitted: { status: 403, message: 'The record may not be placed at that branch.' },
  plan_stock_cap_reached: { status: 403, message: 'The stock cap of the dealership’s plan is reached.' },
  sandbox_stock_cap_reached: {
    status: 403,
    message: 'The stock cap of the sandbox, or your dealership’s part of it, is reached. The sandbox is reset each night.',
  },
  not_available_in_sandbox: { status: 403, message: 'The sandbox does not have this.' },

  not_found: { status: 404, message: 'Nothing with that id is visible to this key.' },
  method_not_allowed: { status: 405, message: 'This path does not take that method.' },

  idempotency_key_reused: { status: 409, message: 'This Idempotency-Key was used before with another request.' },
  idempotency_key_in_use: { status: 409, message: 'The first request with this Idempotency-Key is still running. Retry shortly.' },
  external_id_taken: { status: 409, message: 'Another record holds that external_id.' },
  stock_busy: { status: 409, message: 'The dealership’s stock is being written to. Retry shortly; it is safe to.' },
  vehicle_in_deal: { status: 409, message: 'A deal holds this vehicle.' },
  vehicle_has_purchase_order: { status: 409, message: 'The vehicle is on a purchase order.' },
  customer_has_enquiries: { status: 409, message: 'The customer has enquiries.' },
  enquiry_has_invoiced_order: { status: 409, message: 'A deal of this enquiry is invoiced.' },
  enquiry_has_part_exchange: { status: 409, message: 'The enquiry has a part exchange that was appraised.' },
  appointment_closed: { status: 409, message: 'The appointment is completed, missed or cancelled.' },
  deal_closed: { status: 409, message: 'The deal is cancelled.' },
  deal_sold: { status: 409, message: 'The deal is sold. Credit its invoice in the DMS to undo it.' },
  deal_has_no_enquiry: { status: 409, message: 'The deal has no enquiry.' },
  deal_has_no_vehicle: { status: 409, message: 'The deal has no vehicle.' },
  job_card_paid: { status: 409, message: 'The invoice of this job card is paid; its status stays.' },

  body_too_large: { status: 413, message: 'The body is too large.' },
  validation_failed: { status: 422, message: 'The request has errors.' },
  body_not_received: { status: 422, message: 'The multipart body did not arrive, or not to its end.' },
  vehicle_not_created: { status: 422, message: 'The vehicle was not created.' },
  webhook_endpoint_limit_reached: { status: 422, message: 'The dealership has as many webhook endpoints as it may have.' },
  request_refused: { status: 422, message: 'The dealership does not allow this.' },

  rate_limited: { status: 429, message: 'Too many requests. Wait as long as Retry-After says.' },

  bad_request: { status: 400, message: 'The message is not valid HTTP.' },
  internal_error: { status: 500, message: 'Something went wrong on our side. The request can be retried.' },
  service_unavailable: { status: 503, message: 'The service is busy or starting. Retry shortly.' },
} as const satisfies Record<string, { status: number; message: string }>;

export type Code = keyof typeof catalogue;

/** Field name to what is wrong with it: the `errors` member of a 422. */
export type FieldErrors = Record<string, string[]>;

/** What exactly a 403 misses: its additive `required` member. */
export type Required = { scope?: string; permission?: string; plan?: string; restriction?: string };

type Details = { fields?: FieldErrors; required?: Required; retryAfterSeconds?: number; allow?: string };

/** The only way to answer an error. */
export class Refusal extends Error {
  readonly code: Code;
  readonly fields: FieldErrors | undefined;
  readonly required: Required | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** The methods a path does take, for a 405. */
  readonly allow: string | undefined;

  constructor(code: Code, message?: string, details: Details = {}) {
    super(message ?? catalogue[code].message);
    this.name = 'Refusal';
    this.code = code;
    this.fields = details.fields;
    this.required = details.required;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.allow = details.allow;
  }

  get status(): number {
    return catalogue[this.code].status;
  }
}

/** What the OAuth endpoints answer in the words of RFC 6749, and with which status where they do not lead back to the app. */
export const oauthErrors = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  invalid_scope: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
} as const;

export type OAuthError = keyof typeof oauthErrors;

/** The refusal of an OAuth endpoint. The description is for the app's developer: plain ASCII without quotes, and nothing of what was sent. */
export class OAuthRefusal extends Error {
  readonly error: OAuthError;
  readonly status: number;

  constructor(error: OAuthError, description: string, status: number = oauthErrors[error]) {
    super(description);
    this.name = 'OAuthRefusal';
    this.error = error;
    this.status = status;
  }
}

/** A 422 about one field. */
export const invalid = (field: string, message: string): Refusal =>
  new Refusal('validation_failed', undefined, { fields: { [field]: [message] } });

/** A 422 about several fields. */
export const invalidFields = (fields: FieldErrors): Refusal => new Refusal('validation_failed', undefined, { fields });
