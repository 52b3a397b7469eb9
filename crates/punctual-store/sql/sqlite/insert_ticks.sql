-- Sixteen ticks as `insert_tick` has one: what a statement costs beside its rows is paid once for them.
INSERT INTO runs (scheduled_for, org, schedule, origin, nonce, shard, fire_at, look_at, status, version, tz)
VALUES
    (?2, ?3, ?4, 'tick', '', ?5, ?6, ?6, 'scheduled', ?7, ?1),
    (?8, ?9, ?10, 'tick', '', ?11, ?12, ?12, 'scheduled', ?13, ?1),
    (?14, ?15, ?16, 'tick', '', ?17, ?18, ?18, 'scheduled', ?19, ?1),
    (?20, ?21, ?22, 'tick', '', ?23, ?24, ?24, 'scheduled', ?25, ?1),
    (?26, ?27, ?28, 'tick', '', ?29, ?30, ?30, 'scheduled', ?31, ?1),
    (?32, ?33, ?34, 'tick', '', ?35, ?36, ?36, 'scheduled', ?37, ?1),
    (?38, ?39, ?40, 'tick', '', ?41, ?42, ?42, 'scheduled', ?43, ?1),
    (?44, ?45, ?46, 'tick', '', ?47, ?48, ?48, 'scheduled', ?49, ?1),
    (?50, ?51, ?52, 'tick', '', ?53, ?54, ?54, 'scheduled', ?55, ?1),
    (?56, ?57, ?58, 'tick', '', ?59, ?60, ?60, 'scheduled', ?61, ?1),
    (?62, ?63, ?64, 'tick', '', ?65, ?66, ?66, 'scheduled', ?67, ?1),
    (?68, ?69, ?70, 'tick', '', ?71, ?72, ?72, 'scheduled', ?73, ?1),
    (?74, ?75, ?76, 'tick', '', ?77, ?78, ?78, 'scheduled', ?79, ?1),
    (?80, ?81, ?82, 'tick', '', ?83, ?84, ?84, 'scheduled', ?85, ?1),
    (?86, ?87, ?88, 'tick', '', ?89, ?90, ?90, 'scheduled', ?91, ?1),
    (?92, ?93, ?94, 'tick', '', ?95, ?96, ?96, 'scheduled', ?97, ?1)
ON CONFLICT DO NOTHING
