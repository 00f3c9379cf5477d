import { concatHex, type Hex, numberToHex } from 'viem'

/**
 * Code of an account that accepts every signature; its call, of up to 33 bytes, takes `rounds` times 20,000
 * steps, of one gas each.
 */
export function expensiveCode(rounds: number): Hex {
  return concatHex([
    '0x36602110614e3557', // to the end if there are more than 33 bytes of call data
    '0x61',
    numberToHex(rounds, { size: 2 }), // PUSH2 rounds
    '0x5b',
    `0x${'5b'.repeat(20_000)}`,
    '0x6001900380600b5700', // count down and go back, or STOP
    '0x5b5f5f5260205ff3', // 32 zero bytes
  ])
}
