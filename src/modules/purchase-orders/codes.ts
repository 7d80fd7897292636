// The closed code list of a purchase order.

export const orderStatuses = ['OPEN', 'RECEIVED', 'CANCELLED'] as const;
export type OrderStatus = (typeof orderStatuses)[number];
