import type { Address } from 'viem'
import { type Act, actCall } from '../support/erc7562/actor.js'
import type { Scenario } from '../support/erc7562/scenario.js'

/** The contracts that take part in a case. */
export type CaseActors = {
  readonly account: Address
  readonly factory: Address
  readonly paymaster: Address
  /** A contract whose one opcode means nothing on any fork. */
  readonly broken: Address
  /** A contract at an address that is reserved for precompiles. */
  readonly system: Address
  /** An EIP-7702 account that acts as an actor does, and has a deposit. */
  readonly delegated: Address
  /** A contract that is no entity. */
  readonly stranger: Address
  readonly entryPoint: Address
  /** The address at which the factory creates a sender that does nothing in its constructor. */
  readonly created: Address
}

/** One operation and a bundler's answer to it, whichever engine simulates it. */
export type Case = {
  readonly name: string
  readonly scenario: (actors: CaseActors) => Scenario
  /** The rule it breaks; absent = it is taken. */
  readonly breaks?: string
  /** The answer names a field (-32602) and says this, where a rule is about no more than that. */
  readonly says?: string
}

const roles = ['account', 'factory', 'paymaster'] as const
function abroad(act: Act, { stranger }: CaseActors): Act {
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
    scenario: () => ({ [role]: { what } }),
    breaks: 'OP-011',
  }
})

const opcodes: readonly Case[] = [
  {
    name: 'OP-012: GAS for its own sake',
    scenario: () => ({ account: { what: 'GAS' } }),
    breaks: 'OP-012',
  },
  {
    name: 'OP-012: GAS before a call',
    scenario: ({ stranger }) => ({ account: { what: 'CALL', subject: stranger } }),
  },
  {
    name: 'OP-020: a call that runs out of gas',
    scenario: ({ stranger }) => ({
      account: { what: 'CALL', subject: stranger, gas: 5_000n, data: actCall({ what: 'LOOP' }) },
    }),
    breaks: 'OP-020',
  },
  {
    name: 'OP-031: CREATE2 by an account',
    scenario: () => ({ account: { what: 'CREATE2', value: 5n } }),
    breaks: 'OP-031',
  },
  ...(['EXTCODESIZE', 'EXTCODEHASH', 'EXTCODECOPY', 'CALL', 'STATICCALL'] as const).map(
    (what): Case => ({
      name: `OP-041: ${what} of an address without code`,
      scenario: () => ({ account: { what, subject: nobody } }),
      breaks: 'OP-041',
    }),
  ),
  {
    name: 'OP-054: a look at the code of the EntryPoint',
    scenario: ({ entryPoint }) => ({ paymaster: { what: 'EXTCODEHASH', subject: entryPoint } }),
    breaks: 'OP-054',
  },
  {
    name: 'OP-061: value to somebody else',
    scenario: ({ stranger }) => ({ account: { what: 'CALL', subject: stranger, value: 1n } }),
    breaks: 'OP-061',
  },
  {
    name: 'OP-062: an accepted precompile',
    scenario: () => ({ account: { what: 'STATICCALL', subject: `0x${'0'.repeat(38)}05` } }),
  },
  {
    name: 'OP-062: what stands at an address of precompiles and is not an accepted one',
    scenario: ({ system }) => ({ account: { what: 'STATICCALL', subject: system } }),
    breaks: 'OP-062',
  },
  {
    name: 'OP-013: an opcode that the fork does not assign',
    scenario: ({ broken }) => ({ account: { what: 'CALL', subject: broken, gas: 5_000n } }),
    breaks: 'OP-013',
  },
  {
    name: 'AUTH-030: a look at an EIP-7702 account that is not the sender',
    scenario: ({ delegated }) => ({ account: { what: 'EXTCODESIZE', subject: delegated } }),
    breaks: 'AUTH-030',
  },
  {
    name: 'AUTH-020: an EIP-7702 account as paymaster',
    scenario: ({ delegated }) => ({
      paymaster: { what: 'CHAINID' },
      fields: { paymaster: delegated },
    }),
    breaks: 'AUTH-020',
  },
  ...(['BALANCE', 'SELFBALANCE'] as const).flatMap((what): Case[] => [
    {
      name: `OP-080: ${what} by an unstaked paymaster`,
      scenario: ({ stranger }) => ({ paymaster: { what, subject: stranger } }),
      breaks: 'OP-080',
    },
    {
      name: `OP-080: ${what} by a staked paymaster`,
      scenario: ({ stranger }) => ({
        paymaster: { what, subject: stranger },
        staked: ['paymaster'],
      }),
    },
  ]),
]

const storage: readonly Case[] = [
  ...(['SLOAD', 'SSTORE', 'TLOAD', 'TSTORE'] as const).flatMap((what): Case[] => [
    {
      name: `STO-010: ${what} of the account's own storage`,
      scenario: () => ({ account: { what, value: 3n } }),
    },
    {
      name: `STO-021: ${what} of a slot that is the account's`,
      scenario: (actors) => ({
        account: abroad({ what: `${what} OF`, subject: actors.account }, actors),
      }),
    },
    ...(['factory', 'paymaster'] as const).flatMap((role): Case[] => [
      {
        name: `STO-031: ${what} of its own storage by an unstaked ${role}`,
        scenario: () => ({ [role]: { what, value: 3n } }),
        breaks: 'STO-031',
      },
      {
        name: `STO-031: ${what} of its own storage by a staked ${role}`,
        scenario: () => ({ [role]: { what, value: 3n }, staked: [role] }),
      },
      {
        name: `STO-032: ${what} of a slot that is an unstaked ${role}'s`,
        scenario: (actors) => ({
          [role]: abroad({ what: `${what} OF`, subject: actors[role] }, actors),
        }),
        breaks: 'STO-032',
      },
    ]),
    {
      name: `STO-033: ${what} of what is nobody's of the operation`,
      scenario: (actors) => ({ account: abroad({ what, value: 9n }, actors) }),
      breaks: 'STO-033',
    },
    {
      name: `STO-022: ${what} of a slot of an account that is being created`,
      scenario: (actors) => ({
        factory: abroad({ what: `${what} OF`, subject: actors.created }, actors),
      }),
      breaks: 'STO-022',
    },
    {
      name: `STO-022: ${what} of such a slot when the factory is staked`,
      scenario: (actors) => ({
        factory: abroad({ what: `${what} OF`, subject: actors.created }, actors),
        staked: ['factory'],
      }),
    },
  ]),
  ...(['SLOAD', 'SSTORE'] as const).map(
    (what): Case => ({
      name: `STO-033: ${what} of anything by a staked paymaster`,
      scenario: (actors) => ({
        paymaster: abroad({ what, value: 9n }, actors),
        staked: ['paymaster'],
      }),
      ...(what === 'SSTORE' && { breaks: 'STO-033' }),
    }),
  ),
]

const contexts: readonly Case[] = [
  {
    name: 'EREP-050: a context of an unstaked paymaster',
    scenario: () => ({ paymaster: { what: 'CONTEXT', value: 32n } }),
    breaks: 'EREP-050',
  },
  {
    name: 'EREP-050: a context of a staked paymaster',
    scenario: () => ({ paymaster: { what: 'CONTEXT', value: 32n }, staked: ['paymaster'] }),
  },
]

const honest: readonly Case[] = [
  { name: 'an account that does nothing', scenario: () => ({}) },
  { name: 'an account that is created', scenario: () => ({ deploys: {} }) },
  { name: 'a paymaster that does nothing', scenario: () => ({ paymaster: { what: 'CHAINID' } }) },
]

const sizes: readonly Case[] = [
  {
    name: 'LIM-020: a context that is longer than any may be',
    scenario: () => ({ paymaster: { what: 'CONTEXT', value: 65_568n }, staked: ['paymaster'] }),
    breaks: 'LIM-020',
  },
  {
    name: 'LIM-010: an operation of more bytes than one may have',
    scenario: () => ({ fields: { callData: `0x${'00'.repeat(117_964)}` } }),
    breaks: 'LIM-010',
    says: 'bytes long, the limit is 117964',
  },
  {
    name: 'LIM-070: less gas before validation than its call data costs',
    scenario: () => ({ fields: { preVerificationGas: 1n } }),
    breaks: 'LIM-070',
    says: 'preVerificationGas: 1 gas before verification, must be at least ',
  },
]

/** Cases of ERC-7562 at admission. */
export const cases: readonly Case[] = [
  ...honest,
  ...banned,
  ...opcodes,
  ...storage,
  ...contexts,
  ...sizes,
]
