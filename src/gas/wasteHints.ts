import { greatest } from '../base/bigints.js'
import type { Operation } from '../erc4337/operation.js'
import type { PhaseGas } from '../simulation/engine.js'

/** wei of a charge that the operation need not have been charged. */
export type WasteHint = {
  readonly kind: 'unusedGas' | 'excess' | 'paymaster'
  readonly wei: bigint
  /** Of the charge, to a tenth. */
  readonly percent: number
  readonly message: string
}

/** Parts of a charge below this share (thousandths) are not worth a change. */
const LEAST_SHARE = 10n

type ChargeFacts = {
  /** wei */
  readonly charge: bigint
  readonly parts: readonly { readonly kind: string; readonly wei: bigint }[]
  readonly phases: Pick<PhaseGas, 'call' | 'postOp'>
}

/** What could have been saved, in numbers. */
export function wasteHints(op: Operation, facts: ChargeFacts): readonly WasteHint[] {
  const { parts, charge, phases } = facts
  const weiOf = (kind: string) => parts.find((part) => part.kind === kind)?.wei ?? 0n
  const candidates = [
    { kind: 'unusedGas', wei: weiOf('unusedGas'), message: unusedText(op, phases) },
    {
      kind: 'excess',
      wei: weiOf('excess'),
      message: `preVerificationGas ${op.preVerificationGas} is more than the operation and its share of a bundle cost.`,
    },
    {
      kind: 'paymaster',
      wei: weiOf('paymaster') + weiOf('postOp'),
      message: "Its paymaster's validation and postOp. Sponsored in native mode, it has neither.",
    },
  ] as const
  return candidates
    .filter(({ wei }) => wei > 0n && wei * 1_000n >= charge * LEAST_SHARE)
    .map((hint) => ({ ...hint, percent: Number((hint.wei * 1_000n) / greatest(charge, 1n)) / 10 }))
}

/** The limit that left most unused. */
function unusedText(
  { callGasLimit, paymasterPostOpGasLimit }: Operation,
  { call, postOp }: ChargeFacts['phases'],
): string {
  const isCalls = callGasLimit - call >= paymasterPostOpGasLimit - postOp
  const [name, limit, used] = isCalls
    ? ['callGasLimit', callGasLimit, call]
    : ['paymasterPostOpGasLimit', paymasterPostOpGasLimit, postOp]
  const times = used === 0n ? '' : `, ${Number((limit * 10n) / used) / 10} times as much`
  return `${name} is ${limit}, ${used} were used${times}: the EntryPoint charges a tenth of what is unused.`
}
