import type { Address } from 'viem'
import { decodeAbiParameters, toEventSelector } from 'viem/utils'
import { zeroAddress } from '../../encoding/constants.js'
import type { PaidOperation } from '../../store/ledger/tokenPayments.js'
import type { Included } from '../../store/pool/inclusions.js'

/** The event with which a token tank reports the tokens that it took for an operation. */
const tokensPaidTopic = toEventSelector(
  'event TokensPaid(bytes32 indexed userOpHash, address indexed sender, address indexed token, uint256 charged, uint256 cost)',
)

const amounts = [{ type: 'uint256' }, { type: 'uint256' }] as const

/** Included operations that a paymaster paid, with the tokens that it reports to have taken. */
export function paidOperations(included: readonly Included[]): PaidOperation[] {
  return included
    .filter(({ outcome }) => outcome.paymaster !== zeroAddress)
    .map(({ entryPoint, outcome }) => {
      const { userOpHash, paymaster, sender, nonce, actualGasCost, event } = outcome
      const { blockNumber } = event
      const taken = takenBy(paymaster, outcome)
      return { entryPoint, userOpHash, paymaster, sender, nonce, actualGasCost, blockNumber, taken }
    })
}

function takenBy(
  paymaster: Address,
  { userOpHash, logs }: Included['outcome'],
): PaidOperation['taken'] {
  const log = logs.find(
    ({ address, topics: [topic, hash], data }) =>
      address === paymaster &&
      topic === tokensPaidTopic &&
      hash === userOpHash &&
      data.length === 2 + 2 * 64,
  )
  if (log === undefined) return undefined
  const [charged, cost] = decodeAbiParameters(amounts, log.data)
  return { token: `0x${log.topics[3]?.slice(-40) ?? ''}`, charged, cost }
}
