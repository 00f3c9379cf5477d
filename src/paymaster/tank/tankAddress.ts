import type { Address, Hex } from 'viem'
import { concatHex, encodeFunctionData, getCreate2Address } from 'viem/utils'
import {
  type Deployment,
  firstTanks,
  tank06,
  tank07,
  tokenTank06,
  tokenTank07,
  tokenTank08,
} from '../../contracts/deployments.js'
import { abi as factoryAbi } from '../../contracts/generated/TankFactory.js'
import { zeroAddress, zeroHash } from '../../encoding/constants.js'
import type { Version } from '../../entrypoint/entryPoint.js'
import type { TankContract, TankKind } from '../../store/schema.js'

type Implementations = Readonly<Record<TankKind, Readonly<Record<Version, Deployment>>>>

/** The code that a tank runs, by the version of its contract and of its EntryPoint. */
const implementations: Readonly<Record<TankContract, Implementations>> = {
  1: {
    gas: {
      '0.6': tank06,
      '0.7': firstTanks.tank07,
      '0.8': firstTanks.tank07,
      '0.9': firstTanks.tank07,
    },
    token: {
      '0.6': firstTanks.tokenTank06,
      '0.7': firstTanks.tokenTank07,
      '0.8': firstTanks.tokenTank08,
      '0.9': firstTanks.tokenTank08,
    },
  },
  2: {
    gas: { '0.6': tank06, '0.7': tank07, '0.8': tank07, '0.9': tank07 },
    token: {
      '0.6': tokenTank06,
      '0.7': tokenTank07,
      '0.8': tokenTank08,
      '0.9': tokenTank08,
    },
  },
}

export function tankImplementation(
  kind: TankKind,
  version: Version,
  contract: TankContract,
): Deployment {
  return implementations[contract][kind][version]
}

/** The parts that identify a tank; each of them changes its address. */
export type TankParts = {
  readonly kind: TankKind
  readonly version: Version
  readonly contract: TankContract
  readonly entryPoint: Address
  /** The address that may withdraw. */
  readonly owner: Address
  readonly signer: Address
}

/** The address at which the TankFactory at `factory` creates the tank; equals its `predict`. */
export function tankAddress(factory: Address, parts: TankParts): Address {
  const { kind, version, contract, entryPoint, owner, signer } = parts
  const { address: implementation } = tankImplementation(kind, version, contract)
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
  const { kind, version, contract, entryPoint, owner, signer } = parts
  const { address: implementation } = tankImplementation(kind, version, contract)
  const args = [implementation, entryPoint, owner, signer, noSecondSigner, salt] as const
  return encodeFunctionData({ abi: factoryAbi, functionName: 'create', args })
}

/** The second slot stays empty until keys rotate. */
const noSecondSigner = zeroAddress

/** The same salt for all tanks: each has a signer of its own, which tells tanks apart. */
const salt = zeroHash
