// The closed code lists of a vehicle, in the order in which the reference lists show them.

export const vehicleStatuses = [
  'DUE_IN',
  'IN_PREPARATION',
  'FOR_SALE',
  'RESERVED',
  'SOLD',
  'DELIVERED',
  'NOT_FOR_SALE',
  'DISPOSED',
] as const;
export type VehicleStatus = (typeof vehicleStatuses)[number];

/** The status of a new vehicle that names none. */
export const firstStatus: VehicleStatus = 'IN_PREPARATION';

export const vehicleTypes = ['CAR', 'VAN', 'BIKE', 'MOTORHOME', 'CARAVAN', 'TRUCK', 'PLANT', 'FARM', 'CROSSOVER'] as const;

/** Body types by the vehicle type they belong to. */
export const bodyTypeGroups = {
  CAR: ['CONVERTIBLE', 'COUPE', 'ESTATE', 'HATCHBACK', 'HEARSE', 'LIMOUSINE', 'MPV', 'SUV', 'SALOON'],
  VAN: [
    'BOX_VAN',
    'CAMPER',
    'CAR_DERIVED_VAN',
    'CHASSIS_CAB',
    'COMBI_VAN',
    'CURTAIN_SIDE',
    'DROPSIDE',
    'HIGH_ROOF_VAN',
    'LOW_LOADER',
    'LUTON',
    'MINIBUS',
    'PANEL_VAN',
    'PICKUP',
    'SPECIALIST_VEHICLE',
    'TEMPERATURE_CONTROLLED',
    'TIPPER',
    'VEHICLE_TRANSPORTER',
    'WINDOW_VAN',
    'WELFARE',
  ],
  BIKE: [
    'ADVENTURE',
    'COMMUTER',
    'CUSTOM_CRUISER',
    'ENDURO',
    'MINIBIKE',
    'MOPED',
    'MOTOCROSSER',
    'NAKED',
    'QUAD_ATV',
    'ROADSTER_RETRO',
    'SCOOTER',
    'SIDECAR',
    'SPECIAL',
    'SPORTS_TOURER',
    'SUPER_MOTO',
    'SUPER_SPORTS',
    'THREE_WHEELER',
    'TOURER',
    'TRAIL_BIKE',
  ],
  MOTORHOME: [
    'A_CLASS',
    'AMERICAN_RV',
    'C_CLASS',
    'CAMPERVAN',
    'COACH_BUILT',
    'HIGH_TOP',
    'LOW_PROFILE',
    'MICRO_MOTORHOME',
    'VAN_CONVERSION',
  ],
} as const;

export const bodyTypes = [...bodyTypeGroups.CAR, ...bodyTypeGroups.VAN, ...bodyTypeGroups.BIKE, ...bodyTypeGroups.MOTORHOME] as const;

export const fuelTypes = [
  'PETROL',
  'DIESEL',
  'ELECTRIC',
  'PETROL_HYBRID',
  'PETROL_PLUG_IN_HYBRID',
  'DIESEL_HYBRID',
  'DIESEL_PLUG_IN_HYBRID',
  'ELECTRIC_RANGE_EXTENDER',
  'BI_FUEL',
  'HYDROGEN',
  'OTHER',
] as const;

export const transmissions = ['MANUAL', 'AUTOMATIC'] as const;
export const drivetrains = ['FRONT_WHEEL', 'REAR_WHEEL', 'ALL_WHEEL', 'FOUR_WHEEL'] as const;

export const cabTypes = [
  'CREW',
  'DAY',
  'SINGLE',
  'DOUBLE',
  'EXTENDED',
  'HIGH_SLEEPER',
  'LOW_ACCESS',
  'SHORT',
  'SLEEPER',
  'STANDARD',
  'SUPER',
  'TRANSPORTER',
] as const;

export const wheelbaseTypes = ['STD', 'SWB', 'MWB', 'LWB', 'XLWB', 'EXLWB', 'XXLWB'] as const;
export const axleConfigurations = ['4X2', '4X4', '6X2', '6X4', '6X6', '8X2', '8X4', '8X6', '8X8'] as const;

export const serviceHistories = [
  'FULL_SERVICE_HISTORY',
  'FULL_DEALERSHIP_HISTORY',
  'SERVICE_HISTORY',
  'PART_SERVICE_HISTORY',
  'NO_SERVICE_HISTORY',
  'UNKNOWN',
] as const;

export const conditionGrades = ['NEW', 'EXCELLENT', 'GOOD', 'AVERAGE', 'POOR'] as const;
export const writeOffCategories = ['NONE', 'N', 'S', 'B', 'A', 'D', 'C', 'UNRECORDED'] as const;
export const vatSchemes = ['MARGIN', 'VAT_QUALIFYING', 'NO_VAT'] as const;
export const motStatuses = ['VALID', 'NOT_VALID', 'NO_DETAILS', 'NO_RESULTS'] as const;
export const taxStatuses = ['TAXED', 'UNTAXED', 'SORN', 'NOT_TAXED_FOR_ROAD_USE'] as const;

/** Dealers may add codes of their own (`X_…`). */
export const purchaseSources = [
  'PART_EXCHANGE',
  'AUCTION',
  'TRADE',
  'PRIVATE',
  'MANUFACTURER',
  'LEASE_RETURN',
  'TRANSFER',
  'SALE_OR_RETURN',
] as const;

/** Dealers may add codes of their own (`X_…`). */
export const advertChannels = ['WEBSITE', 'AUTO_TRADER', 'OTHER'] as const;
