import { numberToHex } from 'viem/utils'
import { z } from 'zod'
import type { FeeAdvice } from '../../chain/fees.js'
import type { Fees } from '../../erc4337/fees.js'
import { encodeHexFees } from '../dialects/operationFields.js'
import { decimalFees, hexFees, hexQuantity } from '../openRpc/parts.js'
import { method } from './method.js'

/** Fees of a quiet chain, in wei per gas. */
const exampleFees: FeeAdvice = {
  slow: { maxFeePerGas: 1_200_000_000n, maxPriorityFeePerGas: 900_000n },
  standard: { maxFeePerGas: 1_500_000_000n, maxPriorityFeePerGas: 1_000_000n },
  fast: { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 2_000_000n },
}

type GasPrice<Name> = {
  readonly name: Name
  readonly summary: string
  readonly result: z.ZodType
  readonly encode: (advice: FeeAdvice) => unknown
}

/** A method that answers our own advice: what a library computes from it is accepted. */
function gasPrice<const Name extends string>(spec: GasPrice<Name>) {
  return method({
    ...spec,
    scope: 'bundler',
    run: (_, { chain, appId }) => chain.fees(appId),
    example: { params: [], outcome: exampleFees },
  })
}

const TIERS = 'Fees that an operation should bid now, in three tiers.'
const FEES = 'Fees that an operation should bid now.'
const TIP = 'The tip that an operation should bid now.'

const hexTier = z.object(hexFees)
const decimalTier = z.object(decimalFees)
const tiers = {
  summary: TIERS,
  result: z.object({ slow: hexTier, standard: hexTier, fast: hexTier }),
  encode: encodeTiers,
}
const fees = {
  summary: FEES,
  result: hexTier,
  encode: ({ standard }: FeeAdvice) => encodeHexFees(standard),
}
const tip = {
  summary: TIP,
  result: hexQuantity,
  encode: ({ standard }: FeeAdvice) => numberToHex(standard.maxPriorityFeePerGas),
}

/** The fees to bid, in the form of every client that asks for them. */
export const gasPrices = [
  gasPrice({
    name: 'biconomy_getGasFeeValues',
    summary: 'Fees that an operation should bid now, in wei per gas.',
    result: z.object({
      ...decimalFees,
      slow: decimalTier,
      standard: decimalTier,
      fast: decimalTier,
    }),
    encode: encodeDecimalFees,
  }),
  // Asked before each operation: by permissionless and Safe4337Pack, by ZeroDev, Etherspot and thirdweb.
  gasPrice({ name: 'pimlico_getUserOperationGasPrice', ...tiers }),
  gasPrice({ name: 'zd_getUserOperationGasPrice', ...tiers }),
  gasPrice({ name: 'skandha_getGasPrice', ...fees }),
  gasPrice({ name: 'thirdweb_getUserOperationGasPrice', ...fees }),
  // Alchemy's client adds one and a half base fees itself.
  gasPrice({ name: 'rundler_maxPriorityFeePerGas', ...tip }),
  gasPrice({ name: 'eth_maxPriorityFeePerGas', ...tip }),
  gasPrice({
    name: 'eth_gasPrice',
    summary: 'The fee that an operation should bid now.',
    result: hexQuantity,
    encode: ({ standard }) => numberToHex(standard.maxFeePerGas),
  }),
] as const

/**
 * The same in both dialects, since one object serves every client: older ones read the flat fields,
 * newer ones the tiers. Decimal strings of wei.
 */
function encodeDecimalFees({ slow, standard, fast }: FeeAdvice) {
  return {
    ...encodeDecimal(standard),
    slow: encodeDecimal(slow),
    standard: encodeDecimal(standard),
    fast: encodeDecimal(fast),
  }
}

function encodeDecimal({ maxFeePerGas, maxPriorityFeePerGas }: Fees) {
  return {
    maxPriorityFeePerGas: maxPriorityFeePerGas.toString(),
    maxFeePerGas: maxFeePerGas.toString(),
  }
}

function encodeTiers({ slow, standard, fast }: FeeAdvice) {
  return {
    slow: encodeHexFees(slow),
    standard: encodeHexFees(standard),
    fast: encodeHexFees(fast),
  }
}
