import type { Hex } from 'viem'
import { numberToHex } from 'viem/utils'
import type { FeeAdvice } from '../../chain/fees.js'
import type { Fees } from '../../entrypoint/fees.js'

/**
 * The same in both dialects, since one object serves every client: older ones read the flat fields,
 * newer ones the tiers. Decimal strings of wei.
 */
export function encodeFeeValues({ slow, standard, fast }: FeeAdvice) {
  return {
    ...encodeFees(standard),
    slow: encodeFees(slow),
    standard: encodeFees(standard),
    fast: encodeFees(fast),
  }
}

function encodeFees({ maxFeePerGas, maxPriorityFeePerGas }: Fees) {
  return {
    maxPriorityFeePerGas: maxPriorityFeePerGas.toString(),
    maxFeePerGas: maxFeePerGas.toString(),
  }
}

/** The tiers in hex, as Pimlico and ZeroDev have them. */
export function encodeFeeTiers({ slow, standard, fast }: FeeAdvice) {
  return {
    slow: encodeHexFees(slow),
    standard: encodeHexFees(standard),
    fast: encodeHexFees(fast),
  }
}

/** The fees of tier `standard` in hex, as Skandha and thirdweb have them. */
export function encodeStandardFees({ standard }: FeeAdvice) {
  return encodeHexFees(standard)
}

/** The tip of tier `standard` in hex. */
export function encodeStandardTip({ standard }: FeeAdvice): Hex {
  return numberToHex(standard.maxPriorityFeePerGas)
}

/** The maxFeePerGas of tier `standard` in hex: the one price of clients that know one. */
export function encodeStandardPrice({ standard }: FeeAdvice): Hex {
  return numberToHex(standard.maxFeePerGas)
}

/** Fees in wei per gas, as hex. */
export function encodeHexFees({ maxFeePerGas, maxPriorityFeePerGas }: Fees) {
  return {
    maxFeePerGas: numberToHex(maxFeePerGas),
    maxPriorityFeePerGas: numberToHex(maxPriorityFeePerGas),
  }
}
