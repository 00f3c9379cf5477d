import { type Address, type Hex, numberToHex, parseEther, zeroAddress } from 'viem'
import type { Version } from '../../../src/entrypoint/entryPoint.js'
import type { Fees } from '../../../src/entrypoint/fees.js'
import type { Operation } from '../../../src/entrypoint/operation.js'
import { tokenPostOpGas } from '../../../src/paymaster/token/tokenGas.js'
import type { Database } from '../../../src/store/database.js'
import { inTransaction } from '../../../src/store/inTransaction.js'
import { putGrants } from '../../../src/store/ledger/grants.js'
import type { Random } from '../../evm/random.js'
import { TARGET } from '../tanks/tankChain.js'
import { approval, runs, type TokenTankChain, transfer } from '../tanks/tokenTankChain.js'
import type { MixedBundling } from './mixedBundling.js'

/** Where an operation's money comes from: its sender's balance or deposit, a tank, or the operator by a grant. */
export const payers = ['balance', 'deposit', 'tank', 'operator'] as const
export type Payer = (typeof payers)[number]

type Choice = {
  readonly random: Random
  readonly version: Version
  readonly payer: Payer
  readonly tank: Address
  readonly fees: Fees
}

const free = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }

let names = 0

/** A new sender's operation with what our own estimate says, admitted; `sign` signs as its account. */
export async function admitEstimated(
  database: Database,
  bundling: Pick<MixedBundling, 'chains' | 'chainId' | 'appId' | 'estimate' | 'admit'>,
  { random, version, payer, tank, fees }: Choice,
) {
  const chain = bundling.chains[version]
  const name = `paying ${bundling.chainId} ${names++}`
  const bytes = (size: number): Hex => `0x${Buffer.from(random.bytes(size)).toString('hex')}`
  const call = random.pick([
    () => chain.onTarget('write', BigInt(random.below(1_000)), 1n),
    () => ({ to: TARGET, data: numberToHex(random.below(2 ** 30), { size: 4 }) }),
    () => ({ to: TARGET, data: bytes(300) }),
  ])()
  const kind = random.pick(['deployed', 'counterfactual'] as const)
  const drafted = { ...(await chain.draft(kind, name, call)), ...fees }
  if (payer === 'balance') await chain.fund(drafted.sender)
  if (payer === 'deposit') await chain.deposit(drafted.sender, parseEther('0.1'))
  const op = payer === 'operator' ? { ...drafted, ...free } : drafted
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
    const validUntil = Math.floor(Date.now() / 1_000) + 3_600
    await inTransaction(database, (trx) =>
      putGrants(trx, [{ chainId, userOpHash, appId, validUntil, ...fees }]),
    )
  }
  return { hash: await bundling.admit(chain.entryPoint, signed), sign }
}

type TokenChoice = Omit<Choice, 'payer' | 'version'> & { readonly tokens: TokenTankChain }

/** The same of a sender that pays a token tank of ours in tokens, by a quote as the service makes it. */
export async function admitTokenPaid(
  bundling: Pick<MixedBundling, 'chainId' | 'estimate' | 'admit'>,
  { random, tokens, tank, fees }: TokenChoice,
): Promise<{ readonly hash: Hex }> {
  const { entryPoint } = tokens
  const token = tokens.tokens[0]!.address
  const sender = await tokens.createUser(`token ${bundling.chainId} ${names++}`, token)
  await tokens.asUser(sender, approval(token, tank))
  const gift = transfer(token, TARGET, BigInt(1 + random.below(1_000)))
  const drafted = await tokens.userOp(sender, tank, runs([gift]))
  const terms = { mode: 'prefund', treasury: zeroAddress } as const
  const quote = tokens.quoteFor(token, { ...terms, postOpGas: tokenPostOpGas(terms, 0n) })
  const priced = { ...drafted, ...fees, callGasLimit: 0n, preVerificationGas: 0n }
  const estimate = await bundling.estimate(entryPoint, tokens.pay(priced, quote))
  const limited = {
    ...priced,
    callGasLimit: estimate.callGasLimit,
    verificationGasLimit: estimate.verificationGasLimit,
    preVerificationGas: estimate.preVerificationGas,
  }
  return { hash: await bundling.admit(entryPoint, tokens.pay(limited, quote)) }
}
