import assert from 'node:assert/strict';
import { test } from 'node:test';
import { permissionCodes, roles, scopeCatalogue, scopeNames } from './contract.ts';
import { allowsScope, managersAmong, permissionsOf, withSingles } from './rules.ts';

const asRole = (role: (typeof roles)[number]) => permissionsOf({ role, granted: [], withheld: [] });

test('each role has its default permissions', () => {
  assert.deepEqual(asRole('ADMINISTRATOR'), permissionCodes);
  assert.deepEqual(
    roles.map((role) => asRole(role).length),
    [19, 14, 10, 9, 2, 4, 5, 7],
  );
  assert.deepEqual(asRole('TECHNICIAN'), ['WORKSHOP_VIEW', 'WORKSHOP_EDIT']);
  assert.deepEqual(asRole('MARKETING'), ['STOCK_VIEW', 'WEBSITE_VIEW', 'WEBSITE_DESIGN', 'WEBSITE_PUBLISH']);
  assert.deepEqual(asRole('ACCOUNTS'), ['STOCK_VIEW', 'STOCK_COSTS', 'CUSTOMERS_VIEW', 'SALES_VIEW', 'SALES_EDIT']);
  assert.ok(asRole('READ_ONLY').every((code) => code.endsWith('_VIEW')));
});

test('single permissions are given and withheld beside those of the role', () => {
  assert.deepEqual(permissionsOf({ role: 'TECHNICIAN', granted: ['STOCK_VIEW'], withheld: ['WORKSHOP_EDIT'] }), [
    'STOCK_VIEW',
    'WORKSHOP_VIEW',
  ]);
  assert.deepEqual(permissionsOf({ role: 'TECHNICIAN', granted: ['STOCK_VIEW'], withheld: ['STOCK_VIEW'] }), [
    'WORKSHOP_VIEW',
    'WORKSHOP_EDIT',
  ]);
});

test('the last word about a single permission counts', () => {
  const withheld = withSingles({ role: 'SALES_EXECUTIVE', granted: [], withheld: [] }, { without: ['STOCK_EDIT'] });
  assert.deepEqual(withheld, { granted: [], withheld: ['STOCK_EDIT'] });
  assert.deepEqual(withSingles({ role: 'SALES_EXECUTIVE', ...withheld }, { with: ['STOCK_EDIT'] }), {
    granted: ['STOCK_EDIT'],
    withheld: [],
  });
  assert.deepEqual(withSingles({ role: 'SALES_EXECUTIVE', ...withheld }, { without: ['STOCK_EDIT', 'STOCK_VIEW'] }), {
    granted: [],
    withheld: ['STOCK_EDIT', 'STOCK_VIEW'],
  });
});

test('those manage a thing who have the permission for it, and the administrators where nobody has', () => {
  const member = (name: string, role: (typeof roles)[number], singles: { granted?: string[]; withheld?: string[] } = {}) => ({
    ...{ name, role, granted: [], withheld: [] },
    ...singles,
  });
  const managers = (...members: ReturnType<typeof member>[]) => managersAmong(members, 'WEBHOOKS_MANAGE').map(({ name }) => name);
  const [chief, clerk] = [member('chief', 'ADMINISTRATOR'), member('clerk', 'ACCOUNTS')];
  const barred = member('barred', 'ADMINISTRATOR', { withheld: ['WEBHOOKS_MANAGE'] });
  const coder = member('coder', 'MARKETING', { granted: ['WEBHOOKS_MANAGE'] });
  assert.deepEqual(managers(chief, clerk), ['chief']);
  assert.deepEqual(managers(chief, barred, clerk, coder), ['chief', 'coder']);
  assert.deepEqual(managers(barred, clerk, coder), ['coder']);
  assert.deepEqual(managers(barred, clerk), ['barred'], 'for want of anybody else');
  assert.deepEqual(managers(clerk), []);
});

test('a scope needs the permission behind it; branches and public writes need none', () => {
  assert.equal(allowsScope(asRole('MARKETING'), 'vehicles:read'), true);
  assert.equal(allowsScope(asRole('MARKETING'), 'vehicles:write'), false);
  for (const scope of scopeNames) {
    const free = scope === 'branches:read' || scope.startsWith('public:');
    assert.equal(allowsScope([], scope), free, scope);
    assert.equal(scopeCatalogue[scope].permission === null, free, scope);
  }
});

test('scopes that reach customers are marked', () => {
  const marked = scopeNames.filter((scope) => scopeCatalogue[scope].personalData);
  assert.deepEqual(
    [...new Set(marked.map((scope) => scope.split(':')[0]))],
    ['enquiries', 'customers', 'sales', 'appointments', 'workshop'],
  );
});
