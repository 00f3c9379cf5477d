import { type Address, type Hex, numberToHex, parseEther, zeroAddress } from 'viem'
import type { Database } from '../../../src/db/database.js'
import { inTransaction } from '../../../src/db/inTransaction.js'
import type { EntryPoint, Version } from '../../../src/erc4337/entryPoint.js'
import type { Fees } from '../../../src/erc4337/fees.js'
import type { Operation } from '../../../src/erc4337/operation.js'
import { putGrants } from '../../../src/paymaster/ledger/grants.js'
import { tankVerificationGas } from '../../../src/paymaster/tank/tankGas.js'
import { tokenPostOpGas, tokenVerificationGas } from '../../../src/paymaster/token/tokenCharge.js'
import type { Random } from '../../evm/random.js'
import { approval, runs, type TokenTankChain, transfer } from '../tanks/tokenTankChain.js'
import type { World } from '../world/openWorld.js'
import { TARGET } from '../world/versionChain.js'

/** Where an operation's money comes from: its sender's balance or deposit, a tank, or the operator by a grant. */
export const payers = ['balance', 'deposit', 'tank', 'operator'] as const
export type Payer = (typeof payers)[number]

type Choice = {
  readonly random: Random
  readonly version: Version
  readonly payer: Payer
  readonly tank: Address
  readonly fees: Fees
  /** The senders to choose among; absent = deployed ones, and new ones. */
  readonly kinds?: readonly ('deployed' | 'counterfactual')[]
  /** The gas that the tank is granted follows from it; absent = generous. */
  readonly prices?: Pick<EntryPoint, 'gas'>
}

const free = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }

/** Operations by chain id, so that a chain has the same senders in every run, whatever ran before. */
const counts = new Map<number, number>()
function newName(what: string, chainId: number): string {
  const count = counts.get(chainId) ?? 0
  counts.set(chainId, count + 1)
  return `${what} ${chainId} ${count}`
}

/** A new sender's operation with what our own estimate says, admitted; `sign` signs as its account. */
export async function admitEstimated(
  database: Database,
  bundling: Pick<World, 'at' | 'chainId' | 'appId' | 'estimate' | 'admit'>,
  { random, version, payer, tank, fees, prices, kinds = ['deployed', 'counterfactual'] }: Choice,
) {
  const chain = bundling.at(version)
  const name = newName('paying', bundling.chainId)
  const bytes = (size: number): Hex => `0x${Buffer.from(random.bytes(size)).toString('hex')}`
  const call = random.pick([
    () => chain.onTarget('write', BigInt(random.below(1_000)), 1n),
    () => ({ to: TARGET, data: numberToHex(random.below(2 ** 30), { size: 4 }) }),
    () => ({ to: TARGET, data: bytes(300) }),
  ])()
  const kind = random.pick(kinds)
  const drafted = { ...(await chain.draft(kind, name, call)), ...fees }
  if (payer === 'balance') await chain.fund(drafted.sender)
  if (payer === 'deposit') await chain.deposit(drafted.sender, parseEther('0.1'))
  const granted = payer === 'tank' && prices && tankVerificationGas(prices, drafted)
  const paid = granted
    ? { ...drafted, paymaster: tank, paymasterVerificationGasLimit: granted }
    : drafted
  const op = payer === 'operator' ? { ...paid, ...free } : paid
  const stub = payer === 'tank' ? await chain.sponsor(op, tank) : op
  const estimate = await bundling.estimate(chain.entryPoint, stub)
  const limited: Operation = {
    ...op,
    callGasLimit: estimate.callGasLimit,
    verificationGasLimit: estimate.verificationGasLimit,
    preVerificationGas: estimate.preVerificationGas,
  }
  const sign = (unsigned: Operation) => chain.sign(unsigned, name)
  const signed = await sign(payer === 'tank' ? await chain.sponsor(limited, tank) : limited)
  if (payer === 'operator') {
    const { chainId, appId } = bundling
    const userOpHash = chain.entryPoint.hash(signed, chainId)
    // A day: chains of tests run ahead of the clock.
    const validUntil = Math.floor(Date.now() / 1_000) + 86_400
    await inTransaction(database, (trx) =>
      putGrants(trx, [{ chainId, userOpHash, appId, validUntil, ...fees }]),
    )
  }
  return { hash: await bundling.admit(signed, chain.entryPoint), sign }
}

type TokenChoice = Omit<Choice, 'payer' | 'version'> & {
  readonly tokens: TokenTankChain
  /** A TokenUser that is there already; absent = a new one. */
  readonly user?: Address
}

/** The same of a sender that pays a token tank of ours in tokens, by a quote as the service makes it. */
export async function admitTokenPaid(
  bundling: Pick<World, 'chainId' | 'estimate' | 'admit'>,
  { random, tokens, tank, fees, user, prices }: TokenChoice,
): Promise<{ readonly hash: Hex }> {
  const { entryPoint } = tokens
  const token = tokens.tokens[0]!.address
  const name = newName('token', bundling.chainId)
  const sender = user ?? (await tokens.createUser(name, token))
  await tokens.transact(sender, runs([approval(token, tank)]))
  const gift = transfer(token, TARGET, BigInt(1 + random.below(1_000)))
  const terms = { mode: 'prefund', treasury: zeroAddress } as const
  const unlimited = await tokens.userOp(sender, tank, runs([gift]))
  const granted = prices && tokenVerificationGas(prices, unlimited, terms.mode, 0n)
  const drafted =
    granted && entryPoint.hasPaymasterLimits
      ? { ...unlimited, paymasterVerificationGasLimit: granted }
      : unlimited
  const quote = tokens.quoteFor(token, {
    ...terms,
    postOpGas: tokenPostOpGas(prices ?? entryPoint, terms, 0n),
  })
  const priced = { ...drafted, ...fees, callGasLimit: 0n, preVerificationGas: 0n }
  const estimate = await bundling.estimate(entryPoint, tokens.pay(priced, quote))
  const limited = {
    ...priced,
    callGasLimit: estimate.callGasLimit,
    verificationGasLimit: estimate.verificationGasLimit,
    preVerificationGas: estimate.preVerificationGas,
  }
  // The account takes every signature, but an estimate allows for one, as accounts have.
  const signed = await tokens.sign(tokens.pay(limited, quote), name)
  return { hash: await bundling.admit(signed, entryPoint) }
}
