import type { Address, Hex } from 'viem'
import { TankError } from '../base/errors/sponsorshipErrors.js'
import {
  DETERMINISTIC_DEPLOYER,
  type Deployment,
  tankFactoryAddress,
} from '../chain/contracts/deployments.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { getCode } from '../chain/nodeReads.js'
import {
  type TankParts,
  tankAddress,
  tankCreation,
  tankImplementations,
} from './tank/tankAddress.js'

/** A transaction without value that anybody may send, and the part of a tank that it puts on the chain. */
export type TankStep = {
  readonly puts: 'factory' | 'code' | 'tank'
  readonly to: Address
  readonly data: Hex
}

type StepsContext = {
  readonly node: NodeClient
  readonly definition: Pick<ChainDefinition, 'chainId' | 'tankFactory'>
}

/**
 * A reader of the transactions that a tank is missing on the chain, in their order; none = it is there. Throws
 * TankError for a tank that this chain or this configuration cannot carry.
 */
export function createTankSteps({ node, definition: { chainId, tankFactory } }: StepsContext) {
  const has = async (address: Address): Promise<boolean> => (await getCode(node, address)) !== '0x'

  /** Places a contract of ours at the address that follows from its code. */
  const place = async (
    puts: TankStep['puts'],
    { address, deployData }: Deployment,
  ): Promise<readonly TankStep[]> => {
    if (await has(address)) return []
    if (!(await has(DETERMINISTIC_DEPLOYER)))
      throw new TankError(`Chain ${chainId} lacks the deployer ${DETERMINISTIC_DEPLOYER}.`)
    return [{ puts, to: DETERMINISTIC_DEPLOYER, data: deployData }]
  }

  const placeFactory = async (): Promise<readonly TankStep[]> => {
    if (tankFactory === tankFactoryAddress.address) return place('factory', tankFactoryAddress)
    if (await has(tankFactory)) return []
    throw new TankError(`There is no TankFactory at ${tankFactory}.`)
  }

  return async (tank: TankParts & { readonly address: Address }): Promise<readonly TankStep[]> => {
    if (await has(tank.address)) return []
    if (tankAddress(tankFactory, tank) !== tank.address)
      throw new TankError(
        `Tank ${tank.address} was created by another TankFactory than ${tankFactory}; configure that one.`,
      )
    return [
      ...(await placeFactory()),
      ...(await place('code', tankImplementations[tank.kind][tank.version])),
      { puts: 'tank', to: tankFactory, data: tankCreation(tank) },
    ]
  }
}
