import type { Address, Hex } from 'viem'
import { concatHex, getCreate2Address } from 'viem/utils'
import { zeroHash } from '../../erc4337/encoding/constants.js'
import { bytecode as tank06Code } from './generated/Tank06.js'
import { bytecode as tank07Code } from './generated/Tank07.js'
import { bytecode as tankFactoryCode } from './generated/TankFactory.js'
import { bytecode as tokenTank06Code } from './generated/TokenTank06.js'
import { bytecode as tokenTank07Code } from './generated/TokenTank07.js'
import { bytecode as tokenTank08Code } from './generated/TokenTank08.js'

/** The deterministic deployer that most chains and anvil carry; takes salt(32) and creation code. */
export const DETERMINISTIC_DEPLOYER: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

/** A contract at an address that follows from its code, the same on every chain. */
export type Deployment = {
  readonly address: Address
  /** Calldata for DETERMINISTIC_DEPLOYER. */
  readonly deployData: Hex
}

/** The deployment of `creationCode` (constructor arguments included) by the deterministic deployer. */
export function deployment(creationCode: Hex, salt: Hex = zeroHash): Deployment {
  return {
    address: getCreate2Address({
      from: DETERMINISTIC_DEPLOYER,
      salt,
      bytecode: creationCode,
    }).toLowerCase() as Address,
    deployData: concatHex([salt, creationCode]),
  }
}

/** The contract that creates the tanks of all apps. */
export const tankFactoryAddress = deployment(tankFactoryCode)

/** The code of tanks on EntryPoint v0.6: `implementation` of TankFactory.create. */
export const tank06 = deployment(tank06Code)

/** The code of tanks on EntryPoint v0.7, v0.8 or v0.9. */
export const tank07 = deployment(tank07Code)

/** The code of token tanks on EntryPoint v0.6. */
export const tokenTank06 = deployment(tokenTank06Code)

/** The code of token tanks on EntryPoint v0.7. */
export const tokenTank07 = deployment(tokenTank07Code)

/** The code of token tanks on EntryPoint v0.8 or v0.9. */
export const tokenTank08 = deployment(tokenTank08Code)
