import { migration } from '../../migration.js'

/**
 * A tank had a low threshold of its own beside the alarm of its app's fund. The fund's is the only one
 * now: of all that counted for an app's tanks the highest, so that no alarm goes off later than before.
 */
export const oneAlarm = migration([
  `insert into funds (app_id, chain_id, mode, alarm_wei)
    select t.app_id, t.chain_id, 'tank', max(coalesce(t.low_threshold, f.alarm_wei, 0))
    from tanks t left join funds f on f.app_id = t.app_id and f.chain_id = t.chain_id
    where t.app_id is not null and coalesce(f.mode, 'tank') = 'tank'
    group by t.app_id, t.chain_id having count(t.low_threshold) > 0
    on conflict (app_id, chain_id) do update set alarm_wei = excluded.alarm_wei, updated_at = now()`,
  `alter table alarms drop column available, drop column days`,
  `insert into alarms (holder, since) select id, low_since from tanks where low_since is not null
    on conflict do nothing`,
  `alter table tanks drop column low_threshold, drop column low_since`,
])
