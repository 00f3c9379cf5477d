import type { Address } from 'viem'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import type { FirstValidation } from '../store/pool/operations.js'
import type { Observed, Validation } from '../validation/engine.js'
import { isStaked, type StakePolicy, type Verdict } from '../validation/erc7562/index.js'
import type { AdmittedEntities } from './createEntityView.js'

/** The entities of a validated operation, as reputation counts them. */
export function entitiesOf(
  entryPoint: EntryPoint,
  op: Operation,
  observed: Observed,
  policy: StakePolicy,
): AdmittedEntities {
  const { account, factory, paymaster } = observed.stakes
  return {
    entryPoint: entryPoint.address,
    sender: op.sender,
    factory: factoryOf(op, observed),
    paymaster: op.paymaster,
    staked: {
      account: isStaked(account, policy),
      factory: isStaked(factory, policy),
      paymaster: isStaked(paymaster, policy),
    },
  }
}

/** The factory that creates the sender; undefined where the sender exists already. */
export function factoryOf(op: Operation, observed: Observed): Address | undefined {
  return observed.kind === 'record' && observed.senderExists ? undefined : op.factory
}

/**
 * The facts of the first validation with which the second one is compared. Code hashes are known only
 * where the rules were checked on a record.
 */
export function firstValidation(
  { observed, contextSize }: Pick<Validation, 'observed' | 'contextSize'>,
  verdict: Verdict | undefined,
): FirstValidation {
  if (observed.kind !== 'record' || verdict === undefined) return { contextSize, codeHashes: {} }
  const { codeHashes } = observed
  const visited = [...verdict.visitedCode.keys()].flatMap((address) => {
    const hash = codeHashes.get(address)
    return hash === undefined ? [] : [[address, hash] as const]
  })
  return { contextSize, codeHashes: Object.fromEntries(visited) }
}
