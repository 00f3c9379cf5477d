import { type Address, concatHex, encodeAbiParameters, parseAbiParameters } from 'viem'
import { type Deployment, deployment } from '../../chain/contracts/deployments.js'
import { bytecode } from '../../chain/contracts/generated/DevToken.js'

/** A token of the development chain; its `faucet(to, amount)` is open to all. */
export type DevToken = {
  readonly address: Address
  readonly name: string
  readonly symbol: string
  readonly decimals: number
}

function token(name: string, symbol: string, decimals: number): DevToken & Deployment {
  return {
    name,
    symbol,
    decimals,
    ...deployment(
      concatHex([
        bytecode,
        encodeAbiParameters(parseAbiParameters('string, string, uint8'), [name, symbol, decimals]),
      ]),
    ),
  }
}

/** One with the decimals of dollar tokens and one with those of ether; both know EIP-2612 permits. */
export const devTokens: readonly (DevToken & Deployment)[] = [
  token('Test Dollar', 'tUSD', 6),
  token('Test Coin', 'tCOIN', 18),
]
