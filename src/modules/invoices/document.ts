import { writePdf } from '#platform/pdf/sheet.ts';
import type { InvoiceType } from './contract.ts';
import type { DetailedRow, LineRow } from './queries.ts';
import { outstandingOf, setOffOf, spelled } from './rules.ts';
import type { Issuer } from './source-queries.ts';

const titles: { readonly [type in InvoiceType]: string } = {
  VEHICLE_SALE: 'Invoice',
  WORKSHOP: 'Invoice',
  PARTS: 'Invoice',
  DEPOSIT: 'Deposit invoice',
  CREDIT_NOTE: 'Credit note',
};

/** An invoice as the customer gets it. Of a margin line no VAT is shown, neither its rate nor its amount. */
export function printed(invoice: DetailedRow, issuer: Issuer, currency: string): Promise<Buffer> {
  const { type, number, bill_to, lines, prices_include_vat: including, vat_summary, payments } = invoice;
  const { money, quantity, day } = spoken(issuer.locale, currency);
  const title = `${titles[type]} ${number}`;
  const rates = vat_summary.flatMap(({ rate_bps, net, vat }) => (rate_bps === null || vat === null ? [] : [{ rate_bps, net, vat }]));
  const showsVat = rates.length > 0;
  const setOff = setOffOf(invoice, payments);

  const priceHead = showsVat ? `Price ${including ? 'with' : 'without'} VAT` : 'Price';
  const columns = [
    { head: 'Description', share: 50, align: 'left' },
    { head: 'Quantity', share: 11, align: 'right' },
    { head: priceHead, share: 18, align: 'right' },
    ...(showsVat ? [{ head: 'VAT', share: 9, align: 'right' } as const] : []),
    { head: 'Amount', share: 18, align: 'right' },
  ] as const;
  const cells = (line: LineRow): string[] => [
    line.discount === 0 ? line.description : `${line.description}\nDiscount ${money(0 - line.discount)}`,
    quantity(line.quantity),
    money(line.unit_price),
    ...(showsVat ? [line.vat_rate_bps === null ? '' : percent(line.vat_rate_bps)] : []),
    money(including ? line.gross : line.net),
  ];

  return writePdf({ title, author: issuer.name, language: issuer.locale, at: invoice.updated_at }, (sheet) => {
    sheet.beside(
      [{ text: issuer.name, size: 14, bold: true }, ...present(issuer.branch, ...addressLines(issuer.address), issuer.phone, issuer.email)],
      [
        { text: title, size: 14, bold: true },
        ...present(
          invoice.issued_on && `Date: ${day(invoice.issued_on)}`,
          invoice.tax_point_on && showsVat ? `Tax point: ${day(invoice.tax_point_on)}` : null,
          invoice.due_on && type !== 'CREDIT_NOTE' ? `Due: ${day(invoice.due_on)}` : null,
          issuer.vat_number && `VAT number: ${issuer.vat_number}`,
        ),
      ],
    );
    sheet.gap();
    sheet.text([
      { text: 'To', bold: true },
      bill_to.name,
      ...present(...addressLines(bill_to.address), bill_to.vat_number && `VAT number: ${bill_to.vat_number}`),
    ]);
    sheet.gap();
    sheet.table(columns, lines.map(cells));
    const total = { label: 'Total', amount: money(invoice.gross), bold: true };
    const ofVat = [
      ...(showsVat && !invoice.margin_scheme ? [{ label: 'Without VAT', amount: money(invoice.net) }] : []),
      ...rates.map(({ rate_bps, net, vat }) => ({
        label: `${including ? 'Includes VAT' : 'VAT'} ${percent(rate_bps)} on ${money(net)}`,
        amount: money(vat),
      })),
    ];
    sheet.sums([
      ...(including ? [total, ...ofVat] : [...ofVat, total]),
      ...(setOff === 0 ? [] : [{ label: 'Set off, as it was not paid', amount: money(0 - setOff) }]),
      ...payments.map(({ method, paid_on, reference, amount }) => ({
        label: present(spelled(method), reference, day(paid_on)).join(', '),
        amount: money(0 - amount),
      })),
      ...(invoice.status === 'CREDITED' ? [] : [{ label: 'Outstanding', amount: money(outstandingOf(invoice)), bold: true }]),
    ]);
    sheet.gap();
    sheet.text(invoice.status === 'CREDITED' ? [...invoice.statements, 'This invoice was credited.'] : invoice.statements);
  });
}

function spoken(locale: string, currency: string) {
  const amounts = new Intl.NumberFormat(locale, { style: 'currency', currency });
  const minorDigits = amounts.resolvedOptions().maximumFractionDigits ?? 2;
  const quantities = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 });
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
  return {
    money: (minorUnits: number) => amounts.format(minorUnits / 10 ** minorDigits),
    quantity: (amount: number) => quantities.format(amount),
    day: (date: string) => days.format(Date.parse(date)),
  };
}

const percent = (bps: number): string => `${bps / 100} %`;

const present = (...texts: (string | null | undefined)[]): string[] => texts.filter((text): text is string => Boolean(text));

const addressLines = (address: Issuer['address']): (string | null)[] =>
  address === null ? [] : [address.line1, address.line2, address.city, address.county, address.postcode, address.country];
