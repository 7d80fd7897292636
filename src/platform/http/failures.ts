import type { Refusal } from '../errors.ts';

/** An answer as it is stored and sent; a failure's body is completed with the request id when it is sent. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly location: string | null;
}

/** The standard body of a refusal, without its `request_id`. */
export const refusalAnswer = (refusal: Refusal, docsUrl: string): Answer => ({
  status: refusal.status,
  location: null,
  body: JSON.stringify({
    success: false,
    message: refusal.message,
    code: refusal.code,
    ...(refusal.fields && { errors: refusal.fields }),
    ...(refusal.required && { required: refusal.required }),
    doc_url: `${docsUrl}#${refusal.code}`,
  }),
});

/** The body as this response carries it: a failure names the request it answers. */
export const bodyFor = (answer: Answer, requestId: string | null): string =>
  answer.status < 400 ? answer.body : `${answer.body.slice(0, -1)},"request_id":${JSON.stringify(requestId)}}`;
