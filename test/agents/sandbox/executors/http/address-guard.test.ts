import { describe, expect, it } from 'vitest';
import { createAddressGuard } from '../../../../../src/agents/sandbox/executors/http/address-guard.js';

const hostnameOf = (host: string) => new URL(`http://${host}/`).hostname;
const resolvesTo =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address }));

describe('an address that is not public', () => {
  it.each([
    ['loopback', '127.0.0.1'],
    ['another of the loopback network', '127.8.9.10'],
    ['in hexadecimal', '0x7f000001'],
    ['in hexadecimal parts', '0x7f.0.0.0x1'],
    ['as one number', '2130706433'],
    ['in octal', '0177.0.0.01'],
    ['shortened', '127.1'],
    ['in full-width characters', '１２７.０.０.１'],
    ['with ideographic full stops', '127。0。0。1'],
    ['nothing, which means this host', '0.0.0.0'],
    ['zero', '0'],
    ['private, class A', '10.1.2.3'],
    ['private, class B', '172.16.0.1'],
    ['private, class B, its end', '172.31.255.255'],
    ['private, class C', '192.168.1.1'],
    ['of a carrier', '100.64.0.1'],
    ['metadata of a cloud', '169.254.169.254'],
    ['metadata of a cloud, as one number', '2852039166'],
    ['metadata of Alibaba Cloud', '100.100.100.200'],
    ['for tests of networks', '198.18.0.1'],
    ['for documents', '203.0.113.9'],
    ['multicast', '224.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['IPv6 loopback', '[::1]'],
    ['IPv6 loopback, written out', '[0:0:0:0:0:0:0:1]'],
    ['IPv6 nothing', '[::]'],
    ['IPv4-mapped', '[::ffff:127.0.0.1]'],
    ['IPv4-mapped, in hexadecimal', '[::ffff:7f00:1]'],
    ['IPv4-compatible', '[::127.0.0.1]'],
    ['translated (NAT64)', '[64:ff9b::7f00:1]'],
    ['6to4 around loopback', '[2002:7f00:1::]'],
    ['Teredo', '[2001:0:7f00:1::]'],
    ['IPv6 unique local', '[fd00::1]'],
    ['metadata of a cloud, IPv6', '[fd00:ec2::254]'],
    ['IPv6 link-local', '[fe80::1]'],
    ['IPv6 site-local', '[fec0::1]'],
    ['IPv6 multicast', '[ff02::1]'],
    ['IPv6 for documents', '[2001:db8::1]'],
  ])('is refused: %s', async (_, host) => {
    const guard = createAddressGuard({ resolve: resolvesTo('93.184.216.34') });
    expect(await guard.pin(hostnameOf(host))).toMatchObject({ ok: false, code: 'address_refused' });
  });

  it.each(['localhost', 'LOCALHOST', 'localhost.'])(
    'is refused behind a name, by the resolver of the system: %s',
    async (name) => {
      const pinned = await createAddressGuard().pin(hostnameOf(name));
      // Where the resolver does not know the form with a full stop, there is no address at all.
      expect(pinned).toMatchObject({
        ok: false,
        code: expect.stringMatching(/^(?:address_refused|tool_unavailable)$/u),
      });
    },
  );

  it.each([
    ['a private one', ['10.0.0.7']],
    ['a public and a private one', ['93.184.216.34', '10.0.0.7']],
    ['a mapped one', ['::ffff:10.0.0.7']],
  ])('is refused behind a name that has %s', async (_, addresses) => {
    const guard = createAddressGuard({ resolve: resolvesTo(...addresses) });
    const pinned = await guard.pin('innocent.test');
    expect(pinned).toMatchObject({ ok: false, code: 'address_refused' });
    expect(JSON.stringify(pinned)).not.toContain('10.0.0.7');
  });

  it('is allowed by its network', async () => {
    const guard = createAddressGuard({ allowed: ['10.1.0.0/16', '::1'] });
    expect(await guard.pin('10.1.2.3')).toEqual({ ok: true, address: { address: '10.1.2.3', family: 4 } });
    expect(await guard.pin('[::1]')).toEqual({ ok: true, address: { address: '::1', family: 6 } });
    expect(await guard.pin('10.2.0.1')).toMatchObject({ ok: false });
    expect(await guard.pin('127.0.0.1')).toMatchObject({
      reason: expect.stringContaining('http: { privateAddresses: [127.0.0.1/32] }'),
    });
  });
});

describe('a public address', () => {
  it.each([
    ['93.184.216.34', { address: '93.184.216.34', family: 4 }],
    ['172.32.0.1', { address: '172.32.0.1', family: 4 }],
    ['[2606:4700::1111]', { address: '2606:4700::1111', family: 6 }],
  ])('is pinned: %s', async (host, address) => {
    expect(await createAddressGuard().pin(hostnameOf(host))).toEqual({ ok: true, address });
  });

  it('is resolved once, and pinned: what the name says later does not count', async () => {
    const answers = [['93.184.216.34'], ['127.0.0.1']];
    const guard = createAddressGuard({ resolve: async () => (answers.shift() ?? []).map((address) => ({ address })) });
    expect(await guard.pin('rebinding.test')).toEqual({ ok: true, address: { address: '93.184.216.34', family: 4 } });
    expect(await guard.pin('rebinding.test')).toMatchObject({ ok: false, code: 'address_refused' });
    expect(await guard.pin('rebinding.test')).toMatchObject({ ok: false, code: 'tool_unavailable' });
  });
});

it.each(['10.0.0.0/33', '10.0.0/8', 'example.com', '10.0.0.0/', '10.0.0.0/8.5', ''])(
  '"%s" is refused as a network',
  (network) => {
    expect(() => createAddressGuard({ allowed: [network] })).toThrow('privateAddresses');
  },
);
