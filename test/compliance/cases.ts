import type { Address } from 'viem'
import { type Act, actCall } from '../support/erc7562/actor.js'
import type { Play } from '../support/erc7562/cast.js'

/** Who takes part in a case. */
export type Cast = {
  readonly account: Address
  readonly factory: Address
  readonly paymaster: Address
  /** A contract that is no entity. */
  readonly stranger: Address
  readonly entryPoint: Address
  /** Where the factory creates a sender that does nothing in its constructor. */
  readonly created: Address
}

/** One operation and what a bundler must say to it, whatever simulates it. */
export type Case = {
  readonly name: string
  readonly play: (cast: Cast) => Play
  /** The rule it breaks; absent = it is taken. */
  readonly breaks?: string
}

const roles = ['account', 'factory', 'paymaster'] as const
function abroad(act: Act, { stranger }: Cast): Act {
  return { ...act, how: 'CALL', via: stranger }
}
const nobody: Address = '0x00000000000000000000000000000000deadcafe'

const banned = [
  'ORIGIN',
  'GASPRICE',
  'BLOCKHASH',
  'COINBASE',
  'TIMESTAMP',
  'NUMBER',
  'DIFFICULTY',
  'GASLIMIT',
  'BASEFEE',
  'BLOBHASH',
  'BLOBBASEFEE',
  'CREATE',
].map((what, index): Case => {
  const role = roles[index % roles.length]!
  return {
    name: `OP-011: ${what} by the ${role}`,
    play: () => ({ [role]: { what } }),
    breaks: 'OP-011',
  }
})

const opcodes: readonly Case[] = [
  {
    name: 'OP-012: GAS for its own sake',
    play: () => ({ account: { what: 'GAS' } }),
    breaks: 'OP-012',
  },
  {
    name: 'OP-012: GAS before a call',
    play: ({ stranger }) => ({ account: { what: 'CALL', subject: stranger } }),
  },
  {
    name: 'OP-020: a call that runs out of gas',
    play: ({ stranger }) => ({
      account: { what: 'CALL', subject: stranger, gas: 5_000n, data: actCall({ what: 'LOOP' }) },
    }),
    breaks: 'OP-020',
  },
  {
    name: 'OP-031: CREATE2 by an account',
    play: () => ({ account: { what: 'CREATE2', value: 5n } }),
    breaks: 'OP-031',
  },
  ...(['EXTCODESIZE', 'EXTCODEHASH', 'EXTCODECOPY', 'CALL', 'STATICCALL'] as const).map(
    (what): Case => ({
      name: `OP-041: ${what} of an address without code`,
      play: () => ({ account: { what, subject: nobody } }),
      breaks: 'OP-041',
    }),
  ),
  {
    name: 'OP-054: a look at the code of the EntryPoint',
    play: ({ entryPoint }) => ({ paymaster: { what: 'EXTCODEHASH', subject: entryPoint } }),
    breaks: 'OP-054',
  },
  {
    name: 'OP-061: value to somebody else',
    play: ({ stranger }) => ({ account: { what: 'CALL', subject: stranger, value: 1n } }),
    breaks: 'OP-061',
  },
  {
    name: 'OP-062: a precompile that is not an accepted one',
    play: () => ({ account: { what: 'STATICCALL', subject: `0x${'0'.repeat(38)}05` } }),
  },
  ...(['BALANCE', 'SELFBALANCE'] as const).flatMap((what): Case[] => [
    {
      name: `OP-080: ${what} by an unstaked paymaster`,
      play: ({ stranger }) => ({ paymaster: { what, subject: stranger } }),
      breaks: 'OP-080',
    },
    {
      name: `OP-080: ${what} by a staked paymaster`,
      play: ({ stranger }) => ({ paymaster: { what, subject: stranger }, staked: ['paymaster'] }),
    },
  ]),
]

const storage: readonly Case[] = [
  ...(['SLOAD', 'SSTORE', 'TLOAD', 'TSTORE'] as const).flatMap((what): Case[] => [
    {
      name: `STO-010: ${what} of the account's own storage`,
      play: () => ({ account: { what, value: 3n } }),
    },
    {
      name: `STO-021: ${what} of a slot that is the account's`,
      play: (cast) => ({ account: abroad({ what: `${what} OF`, subject: cast.account }, cast) }),
    },
    ...(['factory', 'paymaster'] as const).flatMap((role): Case[] => [
      {
        name: `STO-031: ${what} of its own storage by an unstaked ${role}`,
        play: () => ({ [role]: { what, value: 3n } }),
        breaks: 'STO-031',
      },
      {
        name: `STO-031: ${what} of its own storage by a staked ${role}`,
        play: () => ({ [role]: { what, value: 3n }, staked: [role] }),
      },
      {
        name: `STO-032: ${what} of a slot that is an unstaked ${role}'s`,
        play: (cast) => ({ [role]: abroad({ what: `${what} OF`, subject: cast[role] }, cast) }),
        breaks: 'STO-032',
      },
    ]),
    {
      name: `STO-033: ${what} of what is nobody's of the operation`,
      play: (cast) => ({ account: abroad({ what, value: 9n }, cast) }),
      breaks: 'STO-033',
    },
    {
      name: `STO-022: ${what} of a slot of an account that is being created`,
      play: (cast) => ({
        factory: abroad({ what: `${what} OF`, subject: cast.created }, cast),
      }),
      breaks: 'STO-022',
    },
    {
      name: `STO-022: ${what} of such a slot when the factory is staked`,
      play: (cast) => ({
        factory: abroad({ what: `${what} OF`, subject: cast.created }, cast),
        staked: ['factory'],
      }),
    },
  ]),
  ...(['SLOAD', 'SSTORE'] as const).map(
    (what): Case => ({
      name: `STO-033: ${what} of anything by a staked paymaster`,
      play: (cast) => ({ paymaster: abroad({ what, value: 9n }, cast), staked: ['paymaster'] }),
      ...(what === 'SSTORE' && { breaks: 'STO-033' }),
    }),
  ),
]

const contexts: readonly Case[] = [
  {
    name: 'EREP-050: a context of an unstaked paymaster',
    play: () => ({ paymaster: { what: 'CONTEXT', value: 32n } }),
    breaks: 'EREP-050',
  },
  {
    name: 'EREP-050: a context of a staked paymaster',
    play: () => ({ paymaster: { what: 'CONTEXT', value: 32n }, staked: ['paymaster'] }),
  },
]

const honest: readonly Case[] = [
  { name: 'an account that does nothing', play: () => ({}) },
  { name: 'an account that is created', play: () => ({ deploys: {} }) },
  { name: 'a paymaster that does nothing', play: () => ({ paymaster: { what: 'CHAINID' } }) },
]

/** Cases of ERC-7562 at admission. */
export const cases: readonly Case[] = [...honest, ...banned, ...opcodes, ...storage, ...contexts]
