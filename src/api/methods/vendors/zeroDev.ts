import type { Draft } from '../../../erc4337/draft.js'
import { chainId, entryPoint } from '../../dialects/decode/entryPoint.js'
import { decodePartialOperation, partialOperation } from '../../dialects/decode/operation.js'
import { decodeContext, type PaymasterRequest } from '../../dialects/decode/paymasterRequest.js'
import {
  address,
  type Decoded,
  decodeObject,
  flag,
  type Input,
  member,
  objectOf,
  optional,
} from '../../dialects/decode/values.js'
import { paymasterAndFees } from '../../openRpc/results.js'
import { encodePaymasterAndFees } from '../../dialects/paymasterData.js'
import {
  EXAMPLE_CHAIN_ID,
  EXAMPLE_ENTRY_POINT,
  exampleOperationJson,
  exampleSponsorship,
} from '../examples.js'
import { requestPaymaster } from '../getPaymasterData.js'
import { method, simulationErrors } from '../method.js'

/** The members of the one object with which ZeroDev's clients ask. */
export const zeroDevMembers = { chainId, userOp: partialOperation, entryPointAddress: entryPoint }

/** Their operation; they write an authorization (EIP-7702) as viem holds it. */
export function draftOf({ userOp, entryPointAddress }: Decoded<typeof zeroDevMembers>): Draft {
  const field = 'params[0].userOp'
  const object = decodeObject(userOp, field)
  const eip7702Auth = member(object, 'eip7702Auth') ?? member(object, 'authorization')
  return decodePartialOperation({ ...object, eip7702Auth }, field, entryPointAddress.version)
}

const gasToken = objectOf({ tokenAddress: optional(address) })
/** `false` is none too. */
const gasTokenData: Input<Decoded<{ gasToken: typeof gasToken }>['gasToken'] | undefined> = {
  json: gasToken.json.optional(),
  decode: (value, field, chain) =>
    value === undefined || value === false ? undefined : gasToken.decode(value, field, chain),
}

/**
 * What ZeroDev's paymaster client asks. Limits are estimated, as there, unless `manualGasEstimation` is
 * set; `shouldOverrideFee` leaves the fees to us; `gasTokenData` names a token to pay with.
 */
export const zeroDevSponsor = method({
  name: 'zd_sponsorUserOperation',
  summary:
    'Paymaster data, limits and fees, signed by a tank that sponsors the gas or charges tokens.',
  scope: 'paymaster',
  cost: 10,
  simulates: true,
  params: {
    request: objectOf({
      ...zeroDevMembers,
      gasTokenData,
      shouldOverrideFee: optional(flag, false),
      manualGasEstimation: optional(flag, false),
    }),
  },
  errors: simulationErrors,
  decode: ({ request: asked }): PaymasterRequest => {
    const token = asked.gasTokenData?.tokenAddress
    const mode = decodeContext(
      { calculateGasLimits: !asked.manualGasEstimation, token },
      'params[0]',
    )
    const fees = asked.shouldOverrideFee
      ? { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined }
      : {}
    const request = { entryPoint: asked.entryPointAddress, draft: { ...draftOf(asked), ...fees } }
    return mode.mode === 'ERC20'
      ? { ...mode, ...request }
      : { ...mode, ...request, refusal: 'error' }
  },
  run: requestPaymaster,
  result: paymasterAndFees,
  encode: encodePaymasterAndFees,
  example: {
    params: [
      {
        chainId: EXAMPLE_CHAIN_ID,
        userOp: exampleOperationJson,
        entryPointAddress: EXAMPLE_ENTRY_POINT,
        shouldOverrideFee: false,
        shouldConsume: true,
      },
    ],
    outcome: exampleSponsorship,
  },
})
