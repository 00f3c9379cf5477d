import type { ValidationSettings } from '../chain/definition/validationSettings.js'
import type { RuleSettings } from './checkRules.js'
import { limitProfiles } from './erc7562/index.js'

/** The settings by which the operations of a chain are checked. */
export function ruleSettings(
  settings: Pick<
    ValidationSettings,
    'rules' | 'limitProfile' | 'minimumStake' | 'minimumUnstakeDelay'
  >,
): RuleSettings {
  return {
    mode: settings.rules,
    limits: limitProfiles[settings.limitProfile],
    stakePolicy: {
      minimumStake: settings.minimumStake,
      minimumUnstakeDelay: BigInt(settings.minimumUnstakeDelay),
    },
  }
}
