import { createRelay, type Relay } from '../../../src/bundling/createRelay.js'
import type { ChainDefinition } from '../../../src/chain/definition/chainDefinition.js'
import type { NodeClient } from '../../../src/chain/nodeClient.js'
import { silent } from '../logger.js'

/** The relay of a definition, as the service opens it. */
export function openRelay({ sending }: ChainDefinition, node: NodeClient): Relay | undefined {
  if (sending === undefined || sending.way === 'public') return undefined
  return createRelay(sending, { node, logger: silent })
}
