import type { Address, Hex } from 'viem'
import { concatHex, encodeFunctionData, getCreate2Address } from 'viem/utils'
import {
  type Deployment,
  tank06,
  tank07,
  tokenTank06,
  tokenTank07,
  tokenTank08,
} from '../../chain/contracts/deployments.js'
import { abi as factoryAbi } from '../../chain/contracts/generated/TankFactory.js'
import { zeroAddress, zeroHash } from '../../erc4337/encoding/constants.js'
import type { Version } from '../../erc4337/entryPoint.js'
import type { TankKind } from '../ledger/tanks.js'

/** The code that a tank runs, by its kind and the version of its EntryPoint. */
export const tankImplementations: Readonly<
  Record<TankKind, Readonly<Record<Version, Deployment>>>
> = {
  gas: { '0.6': tank06, '0.7': tank07, '0.8': tank07, '0.9': tank07 },
  token: { '0.6': tokenTank06, '0.7': tokenTank07, '0.8': tokenTank08, '0.9': tokenTank08 },
}

/** The parts that identify a tank; each of them changes its address. */
export type TankParts = {
  readonly kind: TankKind
  readonly version: Version
  readonly entryPoint: Address
  /** The address that may withdraw. */
  readonly owner: Address
  readonly signer: Address
}

/** The address at which the TankFactory at `factory` creates the tank; equals its `predict`. */
export function tankAddress(factory: Address, parts: TankParts): Address {
  const { kind, version, entryPoint, owner, signer } = parts
  const { address: implementation } = tankImplementations[kind][version]
  const bytecode = concatHex([
    '0x607d3d8160093d39f3363d3d373d3d3d363d73',
    implementation,
    '0x5af43d82803e903d91602b57fd5bf3',
    entryPoint,
    owner,
    signer,
    noSecondSigner,
  ])
  return getCreate2Address({ from: factory, salt, bytecode }).toLowerCase() as Address
}

/** Call data for TankFactory that creates the tank, or does nothing when it exists. */
export function tankCreation(parts: TankParts): Hex {
  const { kind, version, entryPoint, owner, signer } = parts
  const { address: implementation } = tankImplementations[kind][version]
  const args = [implementation, entryPoint, owner, signer, noSecondSigner, salt] as const
  return encodeFunctionData({ abi: factoryAbi, functionName: 'create', args })
}

/** The second slot stays empty until keys rotate. */
const noSecondSigner = zeroAddress

/** The same salt for all tanks: each has a signer of its own, which distinguishes them. */
const salt = zeroHash
