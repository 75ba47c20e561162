/*
Nobody crosses while cars have green.
*/
A[] not (Pedestrian.Crossing and Light.Green)

/*
A pedestrian can get across.
*/
E<> Pedestrian.Crossing

/*
How long can a pedestrian be on the street?
*/
sup{Pedestrian.Crossing}: Pedestrian.p
