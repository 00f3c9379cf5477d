import { readFileSync } from 'node:fs'
import { type Address, encodeAbiParameters, encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { compileSolidity } from '../chain/compileSolidity.js'

const source = readFileSync(new URL('../contracts/Hostile.sol', import.meta.url), 'utf8')

/* See contracts/Hostile.sol. */
const compiled = compileSolidity(source.replace(/^pragma.*$/m, ''))
export const hostile = compiled.Hostile!
export const hostileFactory = compiled.HostileFactory!
export const hostileDelegate = compiled.HostileDelegate!

/** The facts in the order of the contract. */
export const facts = [
  'always',
  'mood',
  'blockParity',
  'secondParity',
  'origin',
  'gasBelow',
  'ownBalanceBelow',
  'balanceBelow',
  'hasCode',
  'baseFeeBelow',
  'gasPriceBelow',
] as const

/** The acts in the order of the contract. */
export const acts = [
  'nothing',
  'fail',
  'revert',
  'burnTo',
  'invalid',
  'range',
  'long',
  'write',
  'clear',
  'sendAll',
  'setMood',
  'log',
  'create',
  'withdraw',
  'call',
  'reenter',
  'memory',
  'pad',
] as const

export type Clause = {
  readonly fact: (typeof facts)[number]
  readonly argument?: bigint
  readonly act: (typeof acts)[number]
  readonly amount?: bigint
  readonly subject?: Address
}

const clauses = {
  type: 'tuple[]',
  components: [
    { name: 'fact', type: 'uint8' },
    { name: 'argument', type: 'uint256' },
    { name: 'act', type: 'uint8' },
    { name: 'amount', type: 'uint256' },
    { name: 'subject', type: 'address' },
  ],
} as const

/** A program as the contract reads it from a signature, call data or paymaster data. */
export function encodeProgram(program: readonly Clause[]): Hex {
  const encoded = program.map(
    ({ fact, argument = 0n, act, amount = 0n, subject = zeroAddress }) => ({
      fact: facts.indexOf(fact),
      argument,
      act: acts.indexOf(act),
      amount,
      subject,
    }),
  )
  return encodeAbiParameters([clauses], [encoded])
}

/** Call data by which a hostile account runs `program`. */
export function executeCall(program: readonly Clause[]): Hex {
  return encodeFunctionData({
    abi: hostile.abi,
    functionName: 'execute',
    args: [encodeProgram(program)],
  })
}

/** Paymaster data: what validation does, and what postOp does. */
export function sponsorData(validation: readonly Clause[], postOp: readonly Clause[]): Hex {
  return encodeAbiParameters(
    [{ type: 'bytes' }, { type: 'bytes' }],
    [encodeProgram(validation), encodeProgram(postOp)],
  )
}

/** Factory data that creates the account of `salt` and then runs `program`. */
export function makeCall(salt: Hex, program: readonly Clause[]): Hex {
  return encodeFunctionData({
    abi: hostileFactory.abi,
    functionName: 'make',
    args: [salt, encodeProgram(program)],
  })
}
