// The closed code lists of a customer, in the order in which the reference lists show them.

export const customerTypes = ['INDIVIDUAL', 'BUSINESS'] as const;
export type CustomerType = (typeof customerTypes)[number];

export const contactMethods = ['PHONE', 'EMAIL', 'SMS', 'WHATSAPP', 'POST', 'IN_PERSON', 'VIDEO', 'WEB'] as const;
