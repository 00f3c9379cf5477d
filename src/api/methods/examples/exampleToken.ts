import type { TokenRate } from '../../../paymaster/tokenPayment.js'

/** The token of the examples, which costs its payer 5 percent more than the gas. */
export const exampleToken: TokenRate['token'] = {
  address: '0x0b2c639c533813f4aa9d7837caf62653d097ff85',
  symbol: 'USDC',
  name: 'USD Coin',
  decimals: 6,
  logoUrl: undefined,
  markup: 1_050_000,
  sources: [],
  minimumSources: 1,
  maxDeviation: 0,
  maxExposure: undefined,
  treasury: undefined,
  extraCallGas: 0n,
}
