/**
 * Which addresses a tool may connect to. A name is resolved once, all its addresses are checked, and the connection is
 * pinned to one of them, which prevents DNS rebinding.
 */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { WinnowError } from '../../../../core/errors.js';
import { type CallFailure, describeThrown, fail } from '../../failure.js';

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

export type ResolveName = (name: string) => Promise<readonly { address: string }[]>;
export type Pinned = { ok: true; address: Address } | CallFailure;

interface AddressGuardOptions {
  /** Addresses or networks (`10.1.0.0/16`, `::1`) that are allowed although they are not public. Default: none. */
  readonly allowed?: readonly string[];
  /** Default: the resolver of the system, which also reads the hosts file. */
  readonly resolve?: ResolveName;
}

export interface AddressGuard {
  /** `hostname` as `URL` gives it. */
  pin(hostname: string): Promise<Pinned>;
}

/** IANA's IPv4 special-purpose registry, with multicast and the reserved rest. */
const NOT_PUBLIC_4 = (
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
  '192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 ' +
  '203.0.113.0/24 224.0.0.0/4 240.0.0.0/4'
).split(' ');
/** The range of public addresses; mapped, translated, local and multicast addresses are outside it. */
const PUBLIC_6 = '2000::/3';
/** IANA's IPv6 special-purpose registry within `2000::/3`: Teredo, ORCHID and others, documentation, 6to4. */
const NOT_PUBLIC_6 = '2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20'.split(' ');

/** @throws WinnowError `invalid_option` for an invalid network */
export function createAddressGuard(options: AddressGuardOptions = {}): AddressGuard {
  const { resolve = (name) => lookup(name, { all: true }) } = options;
  const allowed = toBlockList(options.allowed ?? []);
  const refused = toBlockList([...NOT_PUBLIC_4, ...NOT_PUBLIC_6]);
  const publicSix = toBlockList([PUBLIC_6]);

  function isAllowed({ address, family }: Address): boolean {
    const type = family === 4 ? 'ipv4' : 'ipv6';
    if (allowed.check(address, type)) return true;
    return !refused.check(address, type) && (family === 4 || publicSix.check(address, type));
  }

  async function addressesOf(hostname: string): Promise<readonly Address[]> {
    const literal = hostname.replace(/^\[(.*)\]$/u, '$1');
    const found = isIP(literal) > 0 ? [{ address: literal }] : await resolve(hostname);
    return found.map(({ address }) => ({ address, family: isIPv4(address) ? 4 : 6 }));
  }

  return {
    async pin(hostname) {
      let addresses: readonly Address[];
      try {
        addresses = await addressesOf(hostname);
      } catch (error) {
        return fail('tool_unavailable', `The host ${hostname} has no address: ${describeThrown(error)}`);
      }
      const wrong = addresses.find((address) => !isAllowed(address));
      // The address is not named: tools must not help to map the internal network.
      if (wrong) return refuse(hostname);
      const [address] = addresses;
      if (!address) return fail('tool_unavailable', `The host ${hostname} has no address.`);
      return { ok: true, address };
    },
  };
}

function refuse(hostname: string): CallFailure {
  const advice = 'Whoever runs Winnow allows it in the configuration file: http: { privateAddresses: [127.0.0.1/32] }.';
  return fail('address_refused', `The host ${hostname} is not a public address. ${advice}`);
}

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', length] = network.split('/');
    const family = isIP(address);
    const bits = length === undefined ? (family === 4 ? 32 : 128) : Number(length);
    const isNetwork =
      family > 0 && Number.isInteger(bits) && bits >= 0 && bits <= (family === 4 ? 32 : 128) && length !== '';
    if (!isNetwork) {
      const advice = 'write an address or a network such as 10.1.0.0/16';
      throw new WinnowError('invalid_option', `privateAddresses: "${network}" is no network; ${advice}.`);
    }
    list.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
