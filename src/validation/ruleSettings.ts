import type { ChainDefinition } from '../chain/definition.js'
import type { RuleSettings } from './checkRules.js'
import { limitProfiles } from './erc7562/index.js'

/** How the operations of a chain are judged. */
export function ruleSettings(
  definition: Pick<
    ChainDefinition,
    'rules' | 'limitProfile' | 'minimumStake' | 'minimumUnstakeDelay'
  >,
): RuleSettings {
  return {
    mode: definition.rules,
    limits: limitProfiles[definition.limitProfile],
    stakePolicy: {
      minimumStake: definition.minimumStake,
      minimumUnstakeDelay: BigInt(definition.minimumUnstakeDelay),
    },
  }
}
