import type { Session } from '#modules/staff/index.ts';
import { contextOf, sessionOf } from '#modules/staff/index.ts';
import type { Context } from '#platform/context.ts';
import type { Asked, Shown } from '#platform/http/pages.ts';
import type { Service } from '#platform/service.ts';
import { at, withRequest } from './addresses.ts';
import { isFormFor } from './forms.ts';
import { outdatedForm } from './trouble.ts';

/** A member of staff before their browser. */
export interface Visitor extends Asked {
  readonly session: Session;
  readonly token: string;
  /** As every command takes them. */
  readonly ctx: Context;
}

type Show = (visitor: Visitor) => Promise<Shown>;

/** A page for who is signed in; others sign in first, and come back with what they brought. */
export const forMembers =
  (service: Service, path: string, show: Show) =>
  async (asked: Asked): Promise<Shown> => {
    const visitor = await visitorOf(service, asked);
    return visitor ? show(visitor) : { leadsTo: signInFor(asked, path) };
  };

/** What a form of such a page does. */
export const forMembersForms =
  (service: Service, show: Show) =>
  async (asked: Asked): Promise<Shown> => {
    const visitor = await visitorOf(service, asked);
    if (!visitor) return { leadsTo: signInFor(asked, at.home) };
    return isFormFor(service.keyring, visitor.session.id, asked.form) ? show(visitor) : outdatedForm();
  };

/** The request to connect that was brought along. */
export const requestOf = ({ query, form }: Asked): string | null => form.get('request') ?? query.get('request');

export async function visitorOf(service: Service, asked: Asked): Promise<Visitor | null> {
  const token = asked.cookie('session');
  const session = token === null ? null : await sessionOf(service, token);
  return token === null || !session ? null : { ...asked, token, session, ctx: contextOf(service, session, asked.requestId) };
}

function signInFor(asked: Asked, path: string): string {
  const request = requestOf(asked);
  return request === null && path !== at.home ? `${at.signIn}?${new URLSearchParams({ to: path })}` : withRequest(at.signIn, request);
}
