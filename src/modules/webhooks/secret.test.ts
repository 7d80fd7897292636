import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyring } from '#platform/secrets.ts';
import type { Service } from '#platform/service.ts';
import { hintOf, newSecret, openSecret, sealSecret } from './secret.ts';

const service = { keyring: keyring([Buffer.alloc(32, 7)]) } as unknown as Service;

test('a secret is whsec_ and the base64 of 32 random bytes', () => {
  const [one, other] = [newSecret(), newSecret()];
  assert.match(one, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(Buffer.from(one.slice(6), 'base64').length, 32);
  assert.notEqual(one, other);
  assert.equal(hintOf(one), one.slice(-4));
});

test('a sealed secret is read in its own row alone', () => {
  const secret = newSecret();
  const sealed = sealSecret(service, 'dealer', 'endpoint', secret);
  assert.ok(!sealed.includes(secret.slice(6, 20)));
  assert.equal(openSecret(service, 'dealer', 'endpoint', sealed), secret);
  assert.throws(() => openSecret(service, 'dealer', 'another', sealed));
  assert.throws(() => openSecret(service, 'another', 'endpoint', sealed));
});
