import { intrinsicGas } from './intrinsicGas.js'
import { createMachine } from './machine/createMachine.js'
import type { EvmContext } from './machine/machine.js'
import { gasRefusal, type MessageInput, runMessage, withMachine } from './machine/runMessage.js'
import type { Outcome } from './outcome.js'

/** The message of an `eth_call`. */
export type EvmMessage = MessageInput & {
  /** Wei per gas that GASPRICE shows; nobody pays it. Default 0. */
  gasPrice?: bigint
}

/**
 * Runs a message as nodes run `eth_call`: intrinsic gas is charged, refund and calldata floor
 * count, the sender's nonce is raised; but nonce, fees and the sender's code are not checked and
 * nothing is paid for gas. The value must be there.
 */
export function call(context: EvmContext, input: EvmMessage): Outcome {
  const create = () => createMachine(context, input.from, input.gasPrice ?? 0n, [])
  return withMachine(context, input, create, (machine) => {
    const needed = intrinsicGas(context.block, input)
    const refusal = gasRefusal(input, needed)
    if (refusal !== undefined) return { kind: 'invalid', reason: refusal }
    if (input.value > 0n && machine.world.load(machine.origin).balance < input.value) {
      return { kind: 'invalid', reason: 'balance of the sender below the value' }
    }
    return runMessage(machine, input, needed, 0)
  })
}
