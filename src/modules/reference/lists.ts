import * as appointments from '#modules/appointments/contract.ts';
import * as customers from '#modules/customers/contract.ts';
import * as deals from '#modules/deals/contract.ts';
import * as enquiries from '#modules/enquiries/contract.ts';
import * as invoices from '#modules/invoices/contract.ts';
import * as jobCards from '#modules/job-cards/contract.ts';
import * as parts from '#modules/parts/contract.ts';
import { permissions } from '#modules/staff/contract.ts';
import * as vehicles from '#modules/vehicles/contract.ts';

/** A code as the product ships it. */
export interface ShippedCode {
  readonly code: string;
  readonly name: string;
  readonly isDefault: boolean;
  readonly isFinal: boolean | null;
  readonly group: string | null;
}

export interface ShippedList {
  readonly title: string;
  readonly description: string | null;
  /** Whether dealers may add codes of their own (`X_…`). */
  readonly takesDealerCodes: boolean;
  readonly codes: readonly ShippedCode[];
}

interface Facts {
  readonly description?: string;
  readonly dealerCodes?: true;
  /** Names that the code itself does not spell well. */
  readonly names?: Readonly<Record<string, string>>;
  readonly default?: string;
  /** Lists of statuses: from which of them the API moves a record no further. */
  readonly final?: readonly string[];
  readonly groups?: Readonly<Record<string, readonly string[]>>;
}

function list(title: string, codes: readonly string[], facts: Facts = {}): ShippedList {
  const groupOf = (code: string) => Object.entries(facts.groups ?? {}).find(([, members]) => members.includes(code))?.[0] ?? null;
  return {
    title,
    description: facts.description ?? null,
    takesDealerCodes: facts.dealerCodes ?? false,
    codes: codes.map((code) => ({
      code,
      name: facts.names?.[code] ?? spelled(code),
      isDefault: code === facts.default,
      isFinal: facts.final ? facts.final.includes(code) : null,
      group: groupOf(code),
    })),
  };
}

/** `PART_EXCHANGE` → "Part exchange". */
const spelled = (code: string): string => code.charAt(0) + code.slice(1).toLowerCase().replaceAll('_', ' ');

const dealerCodes = true;

const bodyTypeNames = {
  MPV: 'MPV',
  SUV: 'SUV',
  CAR_DERIVED_VAN: 'Car-derived van',
  CUSTOM_CRUISER: 'Custom / cruiser',
  QUAD_ATV: 'Quad / ATV',
  ROADSTER_RETRO: 'Roadster / retro',
  A_CLASS: 'A-class',
  AMERICAN_RV: 'American RV',
  C_CLASS: 'C-class',
};

/** Every reference list, in the order in which they are listed. */
export const shippedLists: Readonly<Record<string, ShippedList>> = {
  'vehicle-statuses': list('Vehicle statuses', vehicles.vehicleStatuses, { default: vehicles.firstStatus, final: ['SOLD', 'DELIVERED'] }),
  'vehicle-types': list('Vehicle types', vehicles.vehicleTypes, {
    default: 'CAR',
    names: { BIKE: 'Motorbike', FARM: 'Farm machinery', PLANT: 'Plant machinery' },
  }),
  'body-types': list('Body types', Object.values(vehicles.bodyTypeGroups).flat(), {
    groups: vehicles.bodyTypeGroups,
    names: bodyTypeNames,
  }),
  'fuel-types': list('Fuel types', vehicles.fuelTypes, {
    names: {
      PETROL_HYBRID: 'Petrol hybrid',
      PETROL_PLUG_IN_HYBRID: 'Petrol plug-in hybrid',
      DIESEL_PLUG_IN_HYBRID: 'Diesel plug-in hybrid',
      ELECTRIC_RANGE_EXTENDER: 'Electric with range extender',
      BI_FUEL: 'Bi-fuel',
    },
  }),
  transmissions: list('Transmissions', vehicles.transmissions),
  drivetrains: list('Drivetrains', vehicles.drivetrains, {
    names: {
      FRONT_WHEEL: 'Front-wheel drive',
      REAR_WHEEL: 'Rear-wheel drive',
      ALL_WHEEL: 'All-wheel drive',
      FOUR_WHEEL: 'Four-wheel drive',
    },
  }),
  'cab-types': list('Cab types', vehicles.cabTypes),
  'wheelbase-types': list('Wheelbase types', vehicles.wheelbaseTypes, {
    names: {
      STD: 'Standard',
      SWB: 'Short (SWB)',
      MWB: 'Medium (MWB)',
      LWB: 'Long (LWB)',
      XLWB: 'Extra long (XLWB)',
      EXLWB: 'Extended long (EXLWB)',
      XXLWB: 'Extra extra long (XXLWB)',
    },
  }),
  'axle-configurations': list('Axle configurations', vehicles.axleConfigurations, {
    names: Object.fromEntries(vehicles.axleConfigurations.map((code) => [code, code.toLowerCase()])),
  }),
  'service-histories': list('Service histories', vehicles.serviceHistories),
  'condition-grades': list('Condition grades', vehicles.conditionGrades, { description: 'The state of interior, body and tyres.' }),
  'condition-ratings': list('Condition ratings', enquiries.conditionRatings, {
    description: 'The state of a part exchange.',
  }),
  'write-off-categories': list('Write-off categories', vehicles.writeOffCategories, {
    description: 'How an insurer classed the vehicle. C and D were used before October 2017.',
    names: Object.fromEntries(['N', 'S', 'B', 'A', 'D', 'C'].map((code) => [code, `Category ${code}`])),
  }),
  'vat-schemes': list('VAT schemes', vehicles.vatSchemes, { names: { VAT_QUALIFYING: 'VAT qualifying', NO_VAT: 'No VAT' } }),
  'vat-rates': list('VAT rates', parts.vatRates, {
    default: 'STANDARD',
    names: {
      STANDARD: 'Standard rate (20 %)',
      REDUCED: 'Reduced rate (5 %)',
      ZERO: 'Zero rate (0 %)',
      OUTSIDE_SCOPE: 'Outside the scope of VAT',
      MARGIN: 'Margin scheme',
    },
  }),
  'mot-statuses': list('MOT statuses', vehicles.motStatuses, {
    names: { NO_DETAILS: 'No details held', NO_RESULTS: 'No results returned' },
  }),
  'tax-statuses': list('Tax statuses', vehicles.taxStatuses, {
    names: { SORN: 'SORN', NOT_TAXED_FOR_ROAD_USE: 'Not taxed for on-road use' },
  }),
  'purchase-sources': list('Purchase sources', vehicles.purchaseSources, { dealerCodes }),
  'advert-channels': list('Advert channels', vehicles.advertChannels, { dealerCodes, names: { AUTO_TRADER: 'Auto Trader' } }),
  'enquiry-statuses': list('Enquiry statuses', enquiries.enquiryStatuses, { default: 'NEW', final: ['WON'] }),
  'enquiry-types': list('Enquiry types', enquiries.enquiryTypes, { dealerCodes, default: 'SALES' }),
  'enquiry-sources': list('Enquiry sources', enquiries.enquirySources, {
    dealerCodes,
    default: 'API',
    names: {
      AUTO_TRADER: 'Auto Trader',
      WALK_IN: 'Walk-in',
      EMAIL: 'E-mail',
      SOCIAL: 'Social media',
      API: 'API',
      AI_ASSISTANT: 'AI assistant',
    },
  }),
  'enquiry-lost-reasons': list('Reasons for a lost enquiry', enquiries.enquiryLostReasons, { dealerCodes }),
  'contact-methods': list('Contact methods', customers.contactMethods, {
    names: { EMAIL: 'E-mail', SMS: 'SMS', WHATSAPP: 'WhatsApp' },
  }),
  'customer-types': list('Customer types', customers.customerTypes, { default: 'INDIVIDUAL' }),
  'deal-statuses': list('Deal statuses', deals.dealStatuses, {
    default: 'QUOTE',
    final: deals.finalDealStatuses,
  }),
  'deal-types': list('Deal types', deals.dealTypes, { dealerCodes, default: 'RETAIL' }),
  'deal-cancellation-reasons': list('Reasons for a cancelled deal', enquiries.reasonsToLeave, { dealerCodes }),
  'deal-extra-kinds': list('Kinds of extras in a deal', deals.dealExtraKinds, { dealerCodes, names: { GAP_INSURANCE: 'GAP insurance' } }),
  'finance-types': list('Finance types', enquiries.financeTypes, {
    names: {
      HP: 'Hire purchase (HP)',
      PCP: 'Personal contract purchase (PCP)',
      PCH: 'Personal contract hire (PCH)',
      BCH: 'Business contract hire (BCH)',
    },
  }),
  'finance-statuses': list('Finance statuses', deals.financeStatuses),
  'appointment-types': list('Appointment types', appointments.appointmentTypes, { dealerCodes, names: { MOT: 'MOT' } }),
  'appointment-statuses': list('Appointment statuses', appointments.appointmentStatuses, {
    default: 'BOOKED',
    final: appointments.closedStatuses,
    names: { NO_SHOW: 'No-show' },
  }),
  'transport-options': list('Transport options', appointments.transportOptions, { dealerCodes, names: { DROP_OFF: 'Drop-off' } }),
  'job-card-statuses': list('Job card statuses', jobCards.jobCardStatuses, { default: 'ESTIMATE', final: ['INVOICED'] }),
  'job-card-types': list('Job card types', jobCards.jobCardTypes, { dealerCodes, default: 'RETAIL' }),
  'job-line-kinds': list('Kinds of job lines', jobCards.jobLineKinds, { names: { MOT: 'MOT', MENU: 'Menu price' } }),
  'pay-types': list('Pay types', jobCards.payTypes, { description: 'Who pays for a line.' }),
  'invoice-types': list('Invoice types', invoices.invoiceTypes),
  'invoice-statuses': list('Invoice statuses', invoices.invoiceStatuses, { final: ['CREDITED', 'VOID'] }),
  'payment-methods': list('Payment methods', invoices.paymentMethods, { dealerCodes }),
  permissions: list('Permissions', Object.keys(permissions), {
    description: 'What a member of staff may do in the DMS; a key’s scopes need them from its owner.',
    names: permissions,
  }),
};
